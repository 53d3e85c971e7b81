import { expect, test } from 'vitest'
import { replyTurns, type TurnMessage } from './reply-turns.js'

let seq = 10
const message = (role: TurnMessage['role'], contextId: string | null = null): TurnMessage => ({
  seq: ++seq,
  role,
  contextId,
  content: '',
  toolCalls: [],
})

test('a reply and the messages after it answer its context, up to the next message of the user or the next context', () => {
  const [asked, call, result, more, thanks, aside] = [
    message('user'),
    message('tool_use', 'a'),
    message('tool_result'),
    message('assistant', 'b'),
    message('user'),
    message('assistant'),
  ]
  expect(replyTurns([asked, call, result, more, thanks, aside], null)).toEqual([
    { contextId: 'a', seq: call.seq, messages: [call, result] },
    { contextId: 'b', seq: more.seq, messages: [more] },
  ])
})

test('the first messages continue a turn that was open', () => {
  const [result, reply, thanks] = [message('tool_result'), message('assistant'), message('user')]
  const open = { contextId: 'a', seq: 3 }
  expect(replyTurns([result, reply, thanks], open)).toEqual([{ ...open, messages: [result, reply] }])
  expect(replyTurns([thanks, reply], open)).toEqual([])
})
