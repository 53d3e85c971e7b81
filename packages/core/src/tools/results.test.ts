import fc from 'fast-check'
import { expect, test } from 'vitest'
import { describeToolCall } from './catalog.js'
import { describeToolResult } from './results.js'

const use = (name: string, args: Record<string, string | number>) =>
  describeToolCall({ id: '1', name, arguments: args })
const bash = use('Bash', { command: 'npm test' })
const edit = use('Edit', { file_path: '/a.ts' })
const grep = use('Grep', { pattern: 'x' })
const view = use('Read', { file_path: '/a.ts' })
const footer = '\n(Open file: /testbed/src/a.py)\n(Current directory: /testbed)\nbash-$'

test.each([
  ['Exit code 2\nno such target', true, { failed: true, exitStatus: 'exit 2' }],
  ['all good', false, { failed: false, exitStatus: 'ok' }],
  ['out\n[Command finished with exit code 0]', false, { failed: false, exitStatus: 'exit 0' }],
  ['out\n[The command completed with exit code 1.]', false, { failed: true, exitStatus: 'exit 1' }],
  ['Exit code: 127\nWall time: 1 s\nOutput:\nsh: x: not found', false, { failed: true, exitStatus: 'exit 127' }],
  ['<returncode>1</returncode>', false, { failed: true, exitStatus: 'exit 1' }],
  ['{"output":"x","metadata":{"exit_code":3}}', false, { failed: true, exitStatus: 'exit 3' }],
  ['Command timed out after 2m 0s', true, { failed: true, exitStatus: 'timed out' }],
  ['Traceback (most recent call last):\n  File "x"\nValueError: bad', false, { failed: false, exitStatus: 'failed' }],
  ['something', true, { failed: true, exitStatus: 'failed' }],
] as const)('the exit status of a command is read from its result: %j', (content, isError, expected) => {
  expect(describeToolResult(bash, content, isError)).toMatchObject(expected)
})

test.each([
  ['The file /a.ts has been updated.', false],
  ['<tool_use_error>String to replace not found in file.</tool_use_error>', true],
  ['No replacement was performed, old_str did not appear verbatim.', true],
  ['Error: no such file', true],
  [`[File: /a.py (9 lines total)]\n1:x\nYour changes have NOT been applied. Please fix your edit${footer}`, true],
  [`[File: /a.py (9 lines total)]\n1:error: x${footer}`, false],
])('a failed edit is recognized without a flag: %j', (content, failed) => {
  expect(describeToolResult(edit, content, false).failed).toBe(failed)
})

test.each([
  ['No matches found', 0],
  ['No files found', 0],
  ['', 0],
  ['Found 12 files\n/a\n/b', 12],
  ['Found 1 matches for "f.py" in /src:\n/src/f.py', 1],
  ['a.ts:1:x\nb.ts:2:x\n\nc.ts:3:x', 3],
  ['a.ts-1-y\na.ts:2:x\na.ts-3-y\n--\nb.ts:9:x', 2],
  ['before\nfound\n--\nfound too\nafter', 2],
  [`/a\n/b${footer}`, 2],
  ['/a\n(Results are truncated. Consider a more specific path.)', 1],
])('the matches of a search are counted: %j', (content, count) => {
  expect(describeToolResult(grep, content, false).matchCount).toBe(count)
})

test('a result names the file that its call left open, and resolves a relative path', () => {
  expect(describeToolResult(use('edit', { search: 'a' }), `[File: src/a.py]${footer}`, false).path).toBe(
    '/testbed/src/a.py',
  )
  expect(describeToolResult(use('open', { path: './src/b.py' }), `1:x${footer}`, false).path).toBe('/testbed/src/b.py')
  expect(describeToolResult(use('edit', { search: 'a' }), 'x\n(Open file: n/a)', false).path).toBeNull()
})

test('the lines that a view shows are read from their numbers', () => {
  const shown = (content: string) => describeToolResult(view, content, false).shown
  expect(shown('   395→a\n   396→b\n\n<system-reminder>\nx\n</system-reminder>')).toEqual({ from: 395, to: 396 })
  expect(shown('plain text\nof a file')).toBeNull()
})

test('never throws for any text', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(bash, edit, grep, view),
      fc.string({ unit: 'binary' }),
      fc.boolean(),
      (some, text, flag) => {
        const outcome = describeToolResult(some, text, flag)
        expect(outcome.failed || !flag).toBe(true)
      },
    ),
  )
})
