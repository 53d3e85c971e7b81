import fc from 'fast-check'
import { expect, test } from 'vitest'
import { conversations, sampleMessage } from '../../../test/support/src/conversations.js'
import { pairToolCalls, turnBoundaries } from './turns.js'

const call = (id: string) => ({ id, name: 'Read', arguments: {} })
const cutsOf = (messages: Parameters<typeof pairToolCalls>[0]) => turnBoundaries(messages, pairToolCalls(messages))

test('a result belongs to the nearest open call of its id', () => {
  const messages = [
    sampleMessage({ seq: 1, role: 'assistant', toolCalls: [call('a')] }),
    sampleMessage({ seq: 2, role: 'tool_result', toolCallId: 'a' }),
    sampleMessage({ seq: 3, role: 'assistant', toolCalls: [call('a')] }),
    sampleMessage({ seq: 4, role: 'tool_result', toolCallId: 'a' }),
  ]
  const pairs = pairToolCalls(messages)
  expect(messages.map((message) => pairs.byResult.get(message.id)?.callMessage.seq)).toEqual([
    undefined,
    1,
    undefined,
    3,
  ])
})

test('parallel calls of one run are each paired, also when they stand in several messages', () => {
  const messages = [
    sampleMessage({ seq: 1, role: 'tool_use', toolCalls: [call('a')] }),
    sampleMessage({ seq: 2, role: 'tool_use', toolCalls: [call('b')] }),
    sampleMessage({ seq: 3, role: 'tool_result', toolCallId: 'b' }),
    sampleMessage({ seq: 4, role: 'tool_result', toolCallId: 'a' }),
  ]
  expect(pairToolCalls(messages).byResult.size).toBe(2)
  expect(cutsOf(messages)).toEqual([false, false, false, true])
})

test('a result that comes after the next run of the assistant counts as one without a call', () => {
  const messages = [
    sampleMessage({ seq: 1, role: 'assistant', toolCalls: [call('a')] }),
    sampleMessage({ seq: 2, role: 'user' }),
    sampleMessage({ seq: 3, role: 'assistant' }),
    sampleMessage({ seq: 4, role: 'tool_result', toolCallId: 'a' }),
  ]
  expect(pairToolCalls(messages).byResult.size).toBe(0)
})

test('a result that sorts before its call still belongs to it, and no cut comes between them', () => {
  const messages = [
    sampleMessage({ seq: 1, role: 'tool_result', toolCallId: 'a' }),
    sampleMessage({ seq: 2, role: 'user' }),
    sampleMessage({ seq: 3, role: 'assistant', toolCalls: [call('a')] }),
  ]
  expect(pairToolCalls(messages).byResult.size).toBe(1)
  expect(cutsOf(messages)).toEqual([false, false, true])
})

test('no cut splits a call from its result', () => {
  fc.assert(
    fc.property(conversations(), (messages) => {
      const pairs = pairToolCalls(messages)
      const indexOf = new Map(messages.map((message, index) => [message.id, index]))
      for (const [index, isCut] of turnBoundaries(messages, pairs).entries()) {
        if (!isCut) continue
        for (const pair of pairs.byResult.values()) {
          const from = indexOf.get(pair.callMessage.id) ?? -1
          const to = indexOf.get(pair.result?.id ?? '') ?? -1
          expect(Math.min(from, to) <= index && Math.max(from, to) > index).toBe(false)
        }
      }
    }),
  )
})

test('the cuts of a conversation are also those of its beginning', () => {
  fc.assert(
    fc.property(conversations(), fc.nat(), (messages, length) => {
      const beginning = messages.slice(0, length % (messages.length + 1))
      expect(cutsOf(beginning)).toEqual(cutsOf(messages).slice(0, beginning.length))
    }),
  )
})
