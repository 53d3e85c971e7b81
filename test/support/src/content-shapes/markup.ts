import { between, type ContentShapes, letters, nested, pieces, repeated, scattered } from './grow.js'

const LATIN = 'abcdefghijklmnopqrstuvwxyz'
const CELLS_IN_WIDE_ROW = 200

function name(number: number): string {
  return letters(LATIN, 6, number)
}

/** Markup, code and what tools print. */
export const markupShapes: ContentShapes = {
  html: pieces((number) => `<div class="${name(number)}"><a href="/${name(number)}">${name(number)}</a></div>\n`),
  xml: pieces((number) => `<${name(number)} id="${number}">${number}</${name(number)}>`),
  'xml-nested': nested('<a>', '</a>', 'x'),
  'tags-opened': repeated('<a '),
  'tags-opened-by-name': pieces((number) => `<${name(number)}>`),
  'tags-closed': repeated('</a>'),
  'html-comments-opened': repeated('<!--'),
  'tag-with-attributes': between(
    '<a ',
    pieces((number) => `${name(number)}="${number}" `),
    '>',
  ),
  'system-reminders': pieces((number) => `<system-reminder>${name(number)}</system-reminder>\n`),
  'system-reminders-opened': repeated('<system-reminder>'),
  'command-messages-opened': repeated('<command-message>'),
  'markdown-table': between(
    '| a | b |\n| --- | --- |\n',
    pieces((number) => `| ${name(number)} | ${number} |\n`),
  ),
  'markdown-table-wide': pieces(
    (number) => `| ${name(number)} ${number % CELLS_IN_WIDE_ROW === CELLS_IN_WIDE_ROW - 1 ? '|\n' : ''}`,
  ),
  'markdown-headings': pieces((number) => `## ${name(number)}\n`),
  'todo-list': pieces((number) => `- [${number % 2 === 0 ? ' ' : 'x'}] fix ${name(number)}\n`),
  'numbered-list': pieces((number) => `${number + 1}. ${name(number)}\n`),
  'indented-list': pieces((number) => `${' '.repeat(number % 40)}- ${name(number)}\n`),
  'code-fences': repeated('```\n'),
  'code-fences-with-code': pieces((number) => `\`\`\`ts\nconst ${name(number)} = ${number}\n\`\`\`\n`),
  'code-fence-without-end': between(
    '```ts\n',
    pieces((number) => `const ${name(number)} = ${number}\n`),
  ),
  code: pieces(
    (number) => `export function ${name(number)}(value: number): number {\n  return value + ${number}\n}\n\n`,
  ),
  'code-of-python': pieces(
    (number) => `class ${name(number)}:\n    def ${name(number + 1)}(self):\n        return ${number}\n`,
  ),
  'code-in-one-line': pieces((number) => `function ${name(number)}(){return ${number}};`),
  'calls-in-one-line': pieces((number) => `${name(number)}()`),
  'comments-opened': repeated('/*'),
  diff: pieces(
    (number) =>
      `diff --git a/${name(number)} b/${name(number)}\n@@ -${number},2 +${number},2 @@\n-${name(number)}\n+${name(number + 1)}\n`,
  ),
  'diff-of-one-file': between(
    '--- a/file\n+++ b/file\n',
    pieces((number) => `@@ -${number} +${number} @@\n-old\n+new\n`),
  ),
  'patch-of-codex': between(
    '*** Begin Patch\n',
    pieces((number) => `*** Update File: ${name(number)}.ts\n@@\n-a\n+b\n`),
    '*** End Patch',
  ),
  'conflict-marks': pieces((number) => `<<<<<<< HEAD\n${name(number)}\n=======\n${number}\n>>>>>>> ${name(number)}\n`),
  'grep-lines': pieces((number) => `src/${name(number)}.ts:${number}:  const ${name(number + 1)} = 1\n`),
  'listing-with-numbers': pieces((number) => `${String(number).padStart(6)}\t${name(number)}\n`),
  'listing-of-files': pieces((number) => `-rw-r--r-- 1 user group ${number} Jan  1 12:00 ${name(number)}.txt\n`),
  'stack-trace': pieces((number) => `    at ${name(number)} (/src/${name(number + 1)}.js:${number}:17)\n`),
  'stack-trace-of-python': pieces(
    (number) => `  File "/src/${name(number)}.py", line ${number}, in ${name(number + 1)}\n    raise ValueError\n`,
  ),
  errors: pieces((number) => `Error: ${name(number)} failed with exit code ${number % 200}\n`),
  'errors-in-one-line': pieces((number) => `TypeError: ${name(number)} `),
  log: pieces(
    (number) =>
      `2026-01-02T03:04:05.${String(number % 1000).padStart(3, '0')}Z INFO ${name(number)} took ${number} ms\n`,
  ),
  'json-lines': pieces((number) => `${JSON.stringify({ id: number, name: name(number), tags: ['a', 'b'] })}\n`),
  'json-in-one-line': between(
    '[',
    pieces((number) => `${JSON.stringify({ id: number, name: name(number) })},`),
    '0]',
  ),
  'json-escaped': pieces((number) => `\\"${name(number)}\\":\\n`),
  yaml: pieces((number) => `${' '.repeat((number % 8) * 2)}${name(number)}: ${number}\n`),
  csv: pieces((number) => `${number},${name(number)},"${name(number + 1)}",${scattered(number)}\n`),
  sql: pieces((number) => `insert into ${name(number)} values (${number}, '${name(number + 1)}');\n`),
  imports: pieces((number) => `import { ${name(number)} } from './${name(number + 1)}.js'\n`),
}
