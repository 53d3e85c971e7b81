import type { Message } from '../conversation/message.js'

const COMMON = {
  thinking: [],
  toolCalls: [],
  toolCallId: null,
  toolName: null,
  isError: false,
  ordinal: 0,
  model: null,
  usage: null,
  pinned: false,
  keptAside: null,
  contextId: null,
  tokens: 0,
  reasoningTokens: 0,
  tokensExact: false,
} as const

type Fields = Partial<Message>

const said = (role: 'user' | 'assistant', content: string): Fields => ({ role, content })

function called(id: string, name: string, given: object, content: string, isError = false): Fields[] {
  return [
    { role: 'tool_use', toolCalls: [{ id, name, arguments: given as never }] },
    { role: 'tool_result', toolCallId: id, toolName: name, content, isError },
  ]
}

const CODE = [
  'import { readFile } from "node:fs/promises"',
  'export interface ParserOptions { readonly maxDepth: number }',
  'export class TokenParser {',
  '  private readonly pendingTokens = new Map<string, number>()',
  '  parseNext(input_text: string, depthMax = 10): string[] {',
  '    if (input_text.length > this.maxDepth) throw new RangeError("too deep")',
  '    return input_text.split(/\\s+/).filter((word) => word !== "")',
  '  }',
  '}',
  'export function formatDate(value: Date): string {',
  '  return value.toISOString().slice(0, 10)',
  '}',
]

const numbered = (from: number) => CODE.map((line, index) => `${String(from + index).padStart(6)}→${line}`).join('\n')

/** A turn of work with the kinds of messages that sessions of coding agents have. */
function turn(number: number): Fields[] {
  const path = `/repo/src/parser/token-parser-${number}.ts`
  const id = (call: number) => `sample-${number}-${call}`
  return [
    said(
      'user',
      `<system-reminder>The date has changed.</system-reminder>The parser of src/date-${number}.ts fails on empty input. Please fix parseNext() so that it returns [] and keep the public API. Never change the lock file.`,
    ),
    said('assistant', `I'll read the parser first, because the error comes from TokenParser in ${path}.`),
    ...called(id(1), 'Read', { file_path: path }, numbered(number * 20)),
    ...called(
      id(2),
      'Grep',
      { pattern: 'parseNext', path: '/repo/src' },
      `${path}:5:  parseNext(input_text: string)\n/repo/src/cli.ts:40:  parser.parseNext(line)`,
    ),
    said('assistant', 'The root cause was the missing check of depthMax. I decided to use a guard instead of a retry:'),
    ...called(
      id(3),
      'Edit',
      { file_path: path, old_string: CODE.slice(4, 7).join('\n'), new_string: CODE.slice(4, 8).join('\n') },
      `The file ${path} has been updated successfully.`,
    ),
    ...called(
      id(4),
      'Bash',
      { command: 'cd /repo && npm test -- --run parser 2>&1 | tail -20', description: 'Run the tests' },
      `FAIL src/parser.test.ts\nTypeError: Cannot read properties of undefined (reading 'split')\n    at TokenParser.parseNext (${path}:6:12)\nTests: 1 failed, 41 passed`,
      true,
    ),
    ...called(
      id(5),
      'TodoWrite',
      { todos: [{ content: 'Add a test for empty input', status: 'in_progress', activeForm: 'Adding' }] },
      'Todos have been modified successfully.',
    ),
    ...called(
      id(6),
      'Bash',
      { command: 'npm test' },
      `PASS src/parser.test.ts\nTests: ${42 + number} passed, 0 failed`,
    ),
    said(
      'assistant',
      `All ${42 + number} tests pass now. \`parseNext\` returns an empty list for empty input. Next step: update docs/parser.md. Should I also change formatDate()?`,
    ),
  ]
}

/** Further kinds of calls and texts. */
function longTurn(number: number): Fields[] {
  const path = `/repo/test/parser/token-parser-${number}.test.ts`
  const id = (call: number) => `sample-${number}-${call}`
  return [
    said(
      'user',
      `I want you to always run \`npm run lint\` before a commit. Please use tabs in src/ from now on, and don't use default exports.\n\n1. The parser must accept nested lists (see docs/grammar.md:12).\n2. Errors should name the line, e.g. "line 4: unexpected )".\n3. Why does parse_all return null when the input is 4,096 bytes long?\n\nYou no longer need to update the changelog.`,
    ),
    said(
      'assistant',
      `I'll add the tests in ${path} first, so that the failure is seen.\n\n- Nested lists need a stack in TokenParser.parseNext.\n- The limit of 4,096 bytes comes from readChunk() because the buffer is never grown.\n\nLet me look at how errors are built now.`,
    ),
    ...called(id(1), 'Write', { file_path: path, content: CODE.join('\n') }, `File created successfully at: ${path}`),
    ...called(
      id(2),
      'Bash',
      { command: `cd /repo; grep -rn "readChunk" src --include=*.ts | head -40; sed -n '1,60p' src/errors.ts` },
      Array.from(
        { length: 30 },
        (_, at) => `src/read-${at}.ts:${at}:  const chunk = await readChunk(file, ${at})`,
      ).join('\n'),
    ),
    ...called(
      id(3),
      'Bash',
      {
        command: `git add -A && git commit -q -m "$(cat <<'EOF'\nparser: nested lists\n\nThe stack is bounded.\nEOF\n)" && git log --oneline -3`,
      },
      `error: pathspec 'token-${number}' did not match any file(s) known to git\nExit code 1`,
      true,
    ),
    ...called(id(4), 'Glob', { pattern: '**/*.test.ts', path: '/repo' }, `${path}\n/repo/test/date.test.ts`),
    ...called(id(5), 'TaskCreate', { subject: 'Grow the buffer', description: 'In readChunk' }, 'Task #1 created'),
    ...called(
      id(6),
      'mcp__tracker__get_ticket',
      { number, withComments: true },
      '{"title":"Nested lists","open":true}',
    ),
    said(
      'assistant',
      `The tests fail with RangeError, which is expected. I decided against recursion, since deep lists would overflow the stack. Remaining: grow the buffer in src/read-chunk.ts and check src/errors.ts.`,
    ),
  ]
}

/** Expressions are compiled once for texts of Latin letters, and once for others. */
function inOtherLetters(fields: Fields): Fields {
  return fields.content === undefined || fields.content === ''
    ? fields
    : { ...fields, content: `${fields.content}\n✓ “…”` }
}

/** A session of some turns that nobody had, of about as many kinds of messages as real ones have. */
export function sampleSession(turns: number): Message[] {
  return Array.from({ length: turns }, (_, index) => {
    const messages = index % 2 === 0 ? turn(index) : longTurn(index)
    return index % 4 < 2 ? messages : messages.map(inOtherLetters)
  })
    .flat()
    .map((fields, index) => ({
      ...COMMON,
      id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      seq: index + 1,
      code: String(index).padStart(8, '0'),
      role: 'user',
      content: '',
      orderedAtMs: index * 1_000,
      cwd: '/repo',
      ...fields,
    }))
}
