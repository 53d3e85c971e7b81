import { expect, test } from 'vitest'
import { isPartOfMessage, joinReceipt, sharedUpTo } from './join-receipt.js'

const line = (role: string | undefined, tokens = 5, mode = 'raw') => ({ role, tokens, mode })
const tool = { role: undefined, tokens: 9, mode: 'raw', item: { type: 'tool' } }

test('blocks of a merged message and the lines of the messages that they were', () => {
  const system = [{ type: 'text', text: 'You are an agent.' }]
  const messages = [
    { role: 'user', content: [{ type: 'text' }, { type: 'text' }] },
    { role: 'assistant', content: [{ type: 'text' }, { type: 'tool_use' }, { type: 'tool_use' }] },
    { role: 'user', content: [{ type: 'tool_result' }, { type: 'tool_result' }] },
  ]
  const entries = [
    line('system'),
    line('user'),
    tool,
    line('user'),
    line('assistant'),
    line('tool_result'),
    line('tool_result', 3, 'condensed'),
    line(undefined, 0, 'covered'),
  ]
  const joined = joinReceipt({ tools: [{ name: 'read' }], system, messages }, entries)
  expect(joined?.map(({ index, lines }) => [index, lines.length])).toEqual([
    [-2, 1],
    [-1, 1],
    [0, 2],
    [1, 1],
    [2, 2],
  ])
  expect(joined?.at(-1)?.lines.map(({ mode }) => mode)).toEqual(['raw', 'condensed'])
})

test('a reply of several items of the Responses API has one line', () => {
  const messages = [
    { type: 'message', role: 'user', content: 'Read it.' },
    { type: 'message', role: 'assistant', content: 'I will.' },
    { type: 'function_call' },
    { type: 'function_call_output' },
  ]
  const entries = [line('user'), line('assistant'), line('tool_result')]
  const joined = joinReceipt({ tools: [], system: null, messages }, entries)
  expect(joined?.map(({ lines }) => lines.length)).toEqual([1, 1, 0, 1])
})

test('lists that do not fit are not joined', () => {
  const messages = [{ role: 'user', content: 'one' }]
  expect(joinReceipt({ tools: [], system: null, messages }, [line('user'), line('user')])).toBeNull()
  expect(joinReceipt({ tools: [], system: null, messages }, [line('assistant')])).toBeNull()
})

test('the shared prefix ends at the first difference, and is empty under other tools or another system prompt', () => {
  const before = { tools: [], system: 'a', messages: [{ role: 'user', content: '1' }] }
  const after = { ...before, messages: [...before.messages, { role: 'user', content: '2' }] }
  expect(sharedUpTo(before, after)).toBe(1)
  expect(sharedUpTo(before, before)).toBe(1)
  expect(sharedUpTo(before, { ...after, messages: [{ role: 'user', content: '0' }] })).toBe(0)
  expect(sharedUpTo(before, { ...after, system: 'b' })).toBeNull()
  expect(sharedUpTo(before, { ...after, tools: [{}] })).toBeNull()
})

test('lines of the ledger and of facts are beside the message that has them', () => {
  const messages = [
    { role: 'user', content: 'facts' },
    { role: 'user', content: 'ledger' },
    { role: 'user', content: 'hello' },
  ]
  const entries = [
    line('user'),
    { mode: 'raw', tokens: 0, fact: {} },
    line('user'),
    { mode: 'raw', tokens: 0, ledger: {} },
    { mode: 'raw', tokens: 0, ledger: {} },
    line('user'),
    { mode: 'left-out', tokens: 0, fact: {} },
  ]
  const joined = joinReceipt({ tools: [], system: null, messages }, entries)
  expect(joined?.map(({ lines }) => lines.length)).toEqual([2, 3, 1])
  expect(entries.filter((entry) => isPartOfMessage(entry))).toHaveLength(3)
})
