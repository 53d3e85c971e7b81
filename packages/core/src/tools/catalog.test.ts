import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createToolCatalog, describeToolCall, toolCatalogOf } from './catalog.js'
import { describeToolResult } from './results.js'
import { defaultToolTable } from './table.js'

const call = (name: string, args: unknown) =>
  describeToolCall({ id: 'call-1', name, arguments: args as string | Record<string, never> })

const cases: [string, string, unknown, object][] = [
  ['Claude Code', 'Read', { file_path: '/a/b.ts' }, { kind: 'file_view', path: '/a/b.ts', range: null }],
  ['Claude Code', 'Read', { file_path: 'b.ts', offset: 395, limit: 20 }, { range: { from: 395, to: 414 } }],
  ['Claude Code', 'Grep', { pattern: 'x', path: 'src' }, { kind: 'grep', pattern: 'x', searchPath: 'src', path: null }],
  ['Claude Code', 'Glob', { pattern: '**/*.go' }, { kind: 'grep', pattern: '**/*.go', searchPath: null }],
  ['Claude Code', 'Bash', { command: 'npm test' }, { kind: 'bash', command: 'npm test', path: null }],
  ['Claude Code', 'MultiEdit', { file_path: 'a.ts', edits: [] }, { kind: 'edit', path: 'a.ts' }],
  ['Claude Code', 'Write', { file_path: 'a.ts', content: '' }, { kind: 'edit', path: 'a.ts' }],
  ['Claude Code', 'NotebookEdit', { notebook_path: 'a.ipynb' }, { kind: 'edit', path: 'a.ipynb' }],
  ['Claude Code', 'Task', { description: 'Look', prompt: 'Find it' }, { kind: 'other', path: null }],
  ['Claude Code', 'WebFetch', { url: 'https://example.com' }, { kind: 'other' }],
  ['Claude Code', 'LS', { path: '/src' }, { kind: 'other', path: '/src' }],
  ['an MCP server', 'mcp__files__read_text_file', { path: '/a' }, { kind: 'file_view', path: '/a' }],
  ['an MCP server', 'mcp__notes__search', { query: 'x' }, { kind: 'other' }],
  [
    'the Anthropic editor',
    'str_replace_based_edit_tool',
    { command: 'view', path: '/a', view_range: [10, 20] },
    { kind: 'file_view', path: '/a', range: { from: 10, to: 20 }, command: null },
  ],
  [
    'the Anthropic editor',
    'str_replace_editor',
    { command: 'view', path: '/a', view_range: [10, -1] },
    { range: { from: 10, to: null } },
  ],
  ['the Anthropic editor', 'str_replace_editor', { command: 'insert', path: '/a' }, { kind: 'edit', path: '/a' }],
  [
    'OpenAI functions',
    'read_file',
    '{"path":"a.py","start_line":5,"end_line":9}',
    { kind: 'file_view', range: { from: 5, to: 9 } },
  ],
  ['OpenAI functions', 'functions.exec_command', '{"cmd":"make"}', { kind: 'bash', command: 'make' }],
  ['OpenAI functions', 'shell', { command: ['bash', '-lc', 'make all'] }, { kind: 'bash', command: 'make all' }],
  ['OpenAI functions', 'shell', { command: ['cat', 'my file'] }, { kind: 'file_view', path: 'my file' }],
  [
    'Codex',
    'apply_patch',
    '*** Begin Patch\n*** Update File: a.ts\n@@\n-x\n+y\n*** Add File: b.ts\n+z\n*** End Patch',
    { kind: 'edit', path: 'a.ts', paths: ['a.ts', 'b.ts'] },
  ],
  [
    'SWE-agent',
    'open',
    '{"path":"src/a.py", "line_number":1474}',
    { kind: 'file_view', range: { from: 1474, to: null } },
  ],
  ['SWE-agent', 'scroll_down', '{}', { kind: 'file_view', path: null }],
  ['SWE-agent', 'edit', '{"search":"a","replace":"b"}', { kind: 'edit', path: null }],
  ['SWE-agent', 'insert', '{"text":"a"}', { kind: 'edit', path: null }],
  ['SWE-agent', 'create', '{"filename":"a.py"}', { kind: 'edit', path: 'a.py' }],
  ['SWE-agent', 'search_dir', '{"search_term":"x","dir":"src"}', { kind: 'grep', pattern: 'x', searchPath: 'src' }],
  ['SWE-agent', 'find_file', '{"file_name":"f.py","dir":"src"}', { kind: 'grep', pattern: 'f.py', searchPath: 'src' }],
  ['SWE-agent', 'submit', '{}', { kind: 'other' }],
  ['Cline', 'replace_in_file', { path: 'a.ts', diff: '' }, { kind: 'edit', path: 'a.ts' }],
  ['Cline', 'search_files', { path: 'src', regex: 'x' }, { kind: 'grep', pattern: 'x', searchPath: 'src' }],
  ['Crush', 'view', { file_path: 'a.go', offset: 0, limit: 50 }, { kind: 'file_view', range: { from: 1, to: 50 } }],
  ['a shop', 'search_direct_flight', { origin: 'JFK' }, { kind: 'other' }],
  ['a tracker', 'create', { title: 'An issue' }, { kind: 'other', path: null }],
]

test.each(cases)('a call of %s: %s %j', (_, name, args, expected) => {
  expect(call(name, args)).toMatchObject(expected)
})

describe('a command line', () => {
  const shell: [string, object][] = [
    ['cat src/a.ts', { kind: 'file_view', path: 'src/a.ts', range: null }],
    ['cat -n "my file.ts" 2>/dev/null', { kind: 'file_view', path: 'my file.ts', range: null }],
    ["sed -n '10,20p' a.ts", { kind: 'file_view', path: 'a.ts', range: { from: 10, to: 20 } }],
    ["sed -n '10,$p' a.ts", { range: { from: 10, to: null } }],
    ['head -20 a.ts', { kind: 'file_view', range: { from: 1, to: 20 } }],
    ['head -n 5 a.ts', { range: { from: 1, to: 5 } }],
    ['tail -n 20 a.ts', { kind: 'file_view', range: { from: -20, to: null } }],
    ['tail -n +20 a.ts', { range: { from: 20, to: null } }],
    ['grep -rn "a b" src', { kind: 'grep', pattern: 'a b', searchPath: 'src' }],
    ['grep -A 3 --include="*.ts" -e x src lib', { kind: 'grep', pattern: 'x', searchPath: 'src lib' }],
    ['rg foo', { kind: 'grep', pattern: 'foo', searchPath: null }],
    ['git grep -n foo -- src', { kind: 'grep', pattern: 'foo', searchPath: 'src' }],
    ['cat a.ts | head', { kind: 'bash', path: null }],
    ['cat a.ts b.ts', { kind: 'bash' }],
    ['cat a.ts > b.ts', { kind: 'bash' }],
    ['cat $FILE', { kind: 'bash' }],
    ['cat "$(ls)"', { kind: 'bash' }],
    ['cat', { kind: 'bash' }],
    ['tail -f log', { kind: 'bash' }],
    ["sed -i 's/a/b/' a.ts", { kind: 'bash' }],
    ['cd x; cat a.ts', { kind: 'bash' }],
    ['cat a.ts > /dev/null', { kind: 'bash' }],
    ['cat < a.ts', { kind: 'bash' }],
    ['cd /x/y && cat ../a.ts', { kind: 'file_view', path: '/x/a.ts' }],
    ['cd x && rg foo', { kind: 'grep', pattern: 'foo', searchPath: 'x' }],
    ["find src -type f -name '*.ts'", { kind: 'grep', pattern: '*.ts', searchPath: 'src' }],
    ["find src -name '*.ts' -delete", { kind: 'bash' }],
    ['ls -la src', { kind: 'bash' }],
  ]
  test.each(shell)('is a view or a search only if it does nothing else: %s', (command, expected) => {
    expect(call('Bash', { command })).toMatchObject({ command, ...expected })
  })
})

test('arguments that are broken JSON are read as far as possible', () => {
  expect(call('Edit', '{"file_path":"a.ts","old_string":"x')).toMatchObject({ kind: 'edit', path: 'a.ts' })
  expect(call('Read', '{"file_path":')).toMatchObject({ kind: 'file_view', path: null })
  expect(call('bash', 'ls -la')).toMatchObject({ kind: 'bash', command: 'ls -la' })
})

test("a user's row comes before Heddle's rows", () => {
  const mine = createToolCatalog([{ names: ['peek'], kind: 'file_view', path: ['what'] }], defaultToolTable)
  const use = describeToolCall({ id: '1', name: 'Peek', arguments: { what: 'a.ts' } }, mine)
  expect(use).toMatchObject({ kind: 'file_view', path: 'a.ts' })
})

test("a user's row says which arguments and which texts of a result count", () => {
  const mine = toolCatalogOf([
    { names: ['peek'], kind: 'file_view', path: ['what'], range: { from: ['first'], count: ['lines'] } },
    { names: ['compile'], kind: 'bash', command: ['target'], result: { exit: ['ended with'], failed: ['BROKEN'] } },
    { names: ['lookup'], kind: 'grep', pattern: ['needle'], result: { matches: ['hits:'] } },
  ])
  const use = (name: string, given: Record<string, string | number>) =>
    describeToolCall({ id: '1', name, arguments: given }, mine)
  expect(use('peek', { what: 'a.ts', first: 5, lines: 10 }).range).toEqual({ from: 5, to: 14 })
  const compile = use('compile', { target: 'all' })
  expect(describeToolResult(compile, 'x\nended with 3', false)).toMatchObject({ failed: true, exitStatus: 'exit 3' })
  expect(describeToolResult(compile, 'x\nended with 0', false)).toMatchObject({ failed: false, exitStatus: 'exit 0' })
  expect(describeToolResult(compile, 'BROKEN: x', false).failed).toBe(true)
  expect(describeToolResult(use('lookup', { needle: 'x' }), 'hits: 12\na', false).matchCount).toBe(12)
})

test('never throws for any call', () => {
  const names = fc.oneof(fc.constantFrom(...defaultToolTable.flatMap(({ names }) => names)), fc.string())
  const values = fc.oneof(
    fc.string(),
    fc.dictionary(fc.constantFrom('path', 'command', 'view_range', 'pattern', '__proto__'), fc.jsonValue()),
  )
  fc.assert(
    fc.property(names, values, (name, args) => {
      expect(['file_view', 'grep', 'bash', 'edit', 'other']).toContain(call(name, args).kind)
    }),
  )
})
