import fc from 'fast-check'
import { expect, test } from 'vitest'
import { conversations, sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { pairToolCalls, turnBoundaries, turnEnds } from './turns.js'

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

test('parallel calls that share an id take their results in order', () => {
  const messages = [
    sampleMessage({ seq: 1, role: 'assistant', toolCalls: [call('a'), call('a')] }),
    sampleMessage({ seq: 2, role: 'tool_result', toolCallId: 'a' }),
    sampleMessage({ seq: 3, role: 'tool_result', toolCallId: 'a' }),
  ]
  const pairs = pairToolCalls(messages)
  expect(messages.slice(1).map((message) => pairs.byResult.get(message.id)?.callIndex)).toEqual([0, 1])
})

test('parallel calls of one run are each paired, also across several messages', () => {
  const messages = [
    sampleMessage({ seq: 1, role: 'tool_use', toolCalls: [call('a')] }),
    sampleMessage({ seq: 2, role: 'tool_use', toolCalls: [call('b')] }),
    sampleMessage({ seq: 3, role: 'tool_result', toolCallId: 'b' }),
    sampleMessage({ seq: 4, role: 'tool_result', toolCallId: 'a' }),
  ]
  expect(pairToolCalls(messages).byResult.size).toBe(2)
  expect(cutsOf(messages)).toEqual([false, false, false, true])
})

test('a result after the next run of the assistant counts as one without a call', () => {
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
      const cuts = turnBoundaries(messages, pairs).flatMap((isCut, index) => (isCut ? [index] : []))
      const places = [...pairs.byResult.values()].map(({ callMessage, result }) =>
        [indexOf.get(callMessage.id) ?? -1, indexOf.get(result?.id ?? '') ?? -1].sort((left, right) => left - right),
      )
      const split = cuts.flatMap((cut) => places.filter(([from = -1, to = -1]) => from <= cut && to > cut))
      expect(split).toEqual([])
    }),
  )
})

test('turn ends depend only on earlier messages, also when a result sorts before its call', () => {
  fc.assert(
    fc.property(conversations(), fc.array(fc.nat(), { maxLength: 20 }), fc.nat(), (messages, swaps, length) => {
      for (const swap of swaps) {
        const at = swap % messages.length
        const [left, right] = [messages[at], messages[at + 1]]
        if (left && right) messages.splice(at, 2, right, left)
      }
      const beginning = messages.slice(0, length % (messages.length + 1))
      expect(turnEnds(beginning)).toEqual(turnEnds(messages).slice(0, beginning.length))
    }),
  )
})

test('a turn ends with its last result, or where the next run of the assistant begins', () => {
  const messages = [
    sampleMessage({ seq: 1, role: 'assistant', toolCalls: [call('a'), call('b')] }),
    sampleMessage({ seq: 2, role: 'tool_result', toolCallId: 'b' }),
    sampleMessage({ seq: 3, role: 'user' }),
    sampleMessage({ seq: 4, role: 'assistant' }),
    sampleMessage({ seq: 5, role: 'tool_result', toolCallId: 'c' }),
    sampleMessage({ seq: 6, role: 'assistant', toolCalls: [call('c')] }),
  ]
  expect(turnEnds(messages)).toEqual([false, false, false, true, true, true])
})
