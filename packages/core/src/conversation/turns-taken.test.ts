import { describe, expect, test } from 'vitest'
import { sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import type { Message } from './message.js'
import { positionOf } from './order.js'
import { turnsTaken } from './turns-taken.js'

const taken = (messages: readonly Message[], before?: number) => turnsTaken({ messages, after: null, before })

const conversation = (...roles: readonly Message['role'][]) =>
  roles.map((role, index) => sampleMessage({ seq: index + 1, role }))

describe('the turns taken since the latest message of the user', () => {
  test('are the replies of the model, each with its calls and their results', () => {
    const turn = ['user', 'assistant', 'tool_use', 'tool_result', 'tool_use', 'tool_use', 'tool_result'] as const
    expect(taken(conversation(...turn))).toBe(2)
    expect(taken(conversation(...turn, 'assistant'))).toBe(3)
  })

  test('begin anew with each message of the user', () => {
    expect(taken(conversation('user', 'assistant', 'user'))).toBe(0)
    expect(taken(conversation('user', 'assistant', 'user', 'assistant'), 9)).toBe(1)
  })

  test('include those before the first message if the user said nothing since', () => {
    expect(taken(conversation('assistant', 'tool_result', 'assistant'), 3)).toBe(5)
    expect(taken([], 3)).toBe(3)
  })

  test('do not depend on the order in which the messages were read', () => {
    expect(taken(conversation('user', 'assistant', 'tool_result', 'assistant').reverse())).toBe(2)
  })

  test('include those that a summary covers, although the message of the user is kept beside it', () => {
    const [asked, , , last] = conversation('user', 'assistant', 'tool_result', 'assistant')
    const gap = conversation('user', 'assistant', 'tool_result')[2]
    const messages = [asked, last] as Message[]
    expect(turnsTaken({ messages, after: gap ? positionOf(gap) : null, before: 1 })).toBe(2)
  })

  test('do not begin anew with a restored message of the user', () => {
    const [first, second] = conversation('user', 'assistant')
    const restored = sampleMessage({ seq: 3, role: 'user', restores: { id: first?.id ?? '', seq: 1 } as never })
    expect(taken([first, second, restored] as Message[])).toBe(1)
  })
})
