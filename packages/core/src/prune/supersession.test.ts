import type { ToolCall } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import type { Message } from '../conversation/message.js'
import { pairToolCalls } from '../conversation/turns.js'
import { toolCatalogOf } from '../tools/catalog.js'
import { toolEvents } from './events.js'
import { findSuperseded } from './supersession.js'

type Call = [name: string, given: ToolCall['arguments'], content: string, result?: Partial<Message>]

/** The kind of result that supersedes each call's result, in order, or null. */
function superseded(calls: readonly Call[], first: Partial<Message> = {}) {
  const messages = [sampleMessage({ seq: 1, ...first })]
  for (const [index, [name, given, content, result]] of calls.entries()) {
    const id = `call-${index}`
    messages.push(
      sampleMessage({ seq: messages.length + 1, role: 'assistant', toolCalls: [{ id, name, arguments: given }] }),
    )
    messages.push(sampleMessage({ seq: messages.length + 1, role: 'tool_result', toolCallId: id, content, ...result }))
  }
  const found = findSuperseded(toolEvents(messages, pairToolCalls(messages), toolCatalogOf([])))
  return messages.filter(({ role }) => role === 'tool_result').map(({ id }) => found.get(id) ?? null)
}

const view: Call = ['Read', { file_path: '/repo/src/a.ts' }, 'const a = 1']
const bash = (command: string, content = ''): Call => ['Bash', { command }, content]

test.each([
  "sed -i 's/1/2/' /repo/src/a.ts",
  'echo x > /repo/src/a.ts',
  'cat new | tee /repo/src/a.ts',
  'mv /repo/src/a.ts /repo/src/b.ts',
  'rm -r /repo/src',
  'cd /repo && rm src/a.ts',
])('a command that changes a file supersedes its views: %s', (command) => {
  expect(superseded([view, bash(command)])).toEqual(['edit', null])
})

test.each([
  ["sed -n 's/1/2/p' /repo/src/a.ts", ''],
  ['rm /repo/src/a.ts2', ''],
  ['rm -r /repo/sr', ''],
  ["sed -i 's/1/2/' /repo/src/a.ts", 'Exit code 1\nsed: no such file'],
  ["sed -i 's/1/2/' /repo/src/a.ts", 'rm: /repo/src/a.ts: Permission denied'],
])('a command that changes nothing, or another file, or fails, supersedes nothing: %s', (command, content) => {
  expect(superseded([view, bash(command, content)])).toEqual([null, null])
})

test('a relative and an absolute path match if the working directory is known', () => {
  const relative: Call = ['Read', { file_path: 'src/a.ts' }, 'const a = 1']
  const edit: Call = ['Edit', { file_path: '/repo/src/a.ts' }, 'ok']
  expect(superseded([relative, edit])).toEqual([null, null])
  expect(superseded([relative, edit], { cwd: '/repo' })).toEqual(['edit', null])
  expect(superseded([view, ['shell', { command: 'sed -i s/1/2/ a.ts', workdir: '/repo/src' }, '']])).toEqual([
    'edit',
    null,
  ])
  expect(superseded([bash('cd /repo && cat src/a.ts', 'const a = 1'), edit])).toEqual(['edit', null])
})

test('a repeated search supersedes the earlier one, whatever it found', () => {
  const search = (content: string, result: Partial<Message> = {}): Call => [
    'Grep',
    { pattern: 'x', path: 'src' },
    content,
    result,
  ]
  expect(superseded([search('a.ts:1:x'), search('b.ts:1:x')])).toEqual(['search', null])
  expect(superseded([search('a.ts:1:x'), search('a.ts:1:x')])).toEqual(['identical call', null])
  expect(superseded([search('a.ts:1:x'), ['Grep', { pattern: 'x' }, 'a.ts:1:x']])).toEqual([null, null])
  expect(superseded([search('a.ts:1:x'), search('no such folder', { isError: true })])).toEqual([null, null])
})

test('a repeated call supersedes the earlier one only if its answer is identical', () => {
  expect(superseded([bash('npm test', 'ok'), bash('npm test', 'ok')])).toEqual(['identical call', null])
  expect(superseded([bash('npm test', 'ok'), bash('npm test', 'ok 2')])).toEqual([null, null])
  expect(
    superseded([
      ['book', { seat: 1 }, 'done'],
      ['book', { seat: 1 }, 'sold out'],
    ]),
  ).toEqual([null, null])
})

test('an edit is never superseded by repeating it', () => {
  const edit: Call = ['Edit', { file_path: '/a.ts', old_string: 'a', new_string: 'b' }, 'ok']
  expect(superseded([edit, edit])).toEqual([null, null])
  expect(superseded([bash('echo x >> log', ''), bash('echo x >> log', '')])).toEqual([null, null])
})
