import { expect, test } from 'vitest'
import { checkWellFormed, toNeutral } from './neutral.js'
import type { NeutralMessage } from './neutral-message.js'

const call = (id: string) => ({ id, name: 'Read', arguments: {} })
const result = (id: string): NeutralMessage => ({ role: 'tool_result', content: 'x', toolCallId: id })
const calling = (...ids: string[]): NeutralMessage => ({ role: 'assistant', content: '', toolCalls: ids.map(call) })

test('parallel calls with their results in order are well formed', () => {
  expect(checkWellFormed([calling('a', 'b'), result('a'), result('b'), { role: 'assistant', content: 'ok' }])).toEqual(
    [],
  )
})

test.each([
  ['results in another order', [calling('a', 'b'), result('b'), result('a')]],
  ['a call that nothing answers', [calling('a')]],
  ['a message between a call and its result', [calling('a'), { role: 'user', content: 'hi' }, result('a')]],
  ['a result without a call', [{ role: 'user', content: 'hi' }, result('a')]],
  ['a call id that comes twice', [calling('a'), result('a'), calling('a'), result('a')]],
  ['calls of a user', [{ role: 'user', content: '', toolCalls: [call('a')] }, result('a')]],
] satisfies [string, NeutralMessage[]][])('%s is not well formed', (_name, messages) => {
  expect(checkWellFormed(messages)).not.toEqual([])
})

test('the neutral format has only the non-empty fields', () => {
  const message: NeutralMessage = {
    role: 'tool_result',
    content: 'x',
    toolCallId: 'a',
    toolName: 'Read',
    isError: false,
  }
  expect(toNeutral(message)).toEqual({ role: 'tool_result', content: 'x', toolCallId: 'a', toolName: 'Read' })
})
