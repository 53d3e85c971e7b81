import { HeddleError } from '@heddle/contracts'
import { expect, it } from 'vitest'
import { readAppend } from './append-input.js'

const good = { agent: 'coder', thread: 'session', messages: [{ role: 'user', content: 'hello' }] }
const cycle: Record<string, unknown> = {}
cycle['self'] = cycle

it.each<[string, unknown, string]>([
  ['nothing at all', undefined, 'append'],
  ['an option that does not exist', { ...good, acks: 'stored' }, 'acks'],
  ['messages that are no list', { ...good, messages: 'hello' }, 'messages'],
  ['a message that is nothing', { ...good, messages: [null] }, 'messages.0'],
  ['a hole among the messages', { ...good, messages: new Array(2) }, 'messages.0'],
  [
    'a fault in a later message',
    { ...good, messages: [...good.messages, { role: 'user', content: 5 }] },
    'messages.1.content',
  ],
  ['another format', { ...good, format: 'openai' }, 'format'],
  ['a context that is none', { ...good, contextId: 'latest' }, 'contextId'],
  ['a key that is none', { ...good, idempotencyKey: '' }, 'idempotencyKey'],
  ['another acknowledgement', { ...good, ack: 'soon' }, 'ack'],
  ['another reaction to a used id', { ...good, onUsedId: 'replace' }, 'onUsedId'],
  ['a beginning that is no time', { ...good, startedAtMs: Number.NaN }, 'startedAtMs'],
  ['a beginning beyond all times', { ...good, startedAtMs: 8.64e15 }, 'startedAtMs'],
  ['a window that no agent may have', { ...good, newAgentRollingWindow: -1 }, 'newAgentRollingWindow'],
  ['a deadline past the longest', { ...good, deadlineMs: Number.POSITIVE_INFINITY }, 'deadlineMs'],
  ['a name with a line feed', { ...good, thread: 'a\nb' }, 'thread'],
])('refuses %s and names the field', (_, given, field) => {
  const refusal = () => readAppend(given)
  expect(refusal).toThrow(HeddleError)
  expect(refusal).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR', field }))
})

it('refuses cyclic objects', () => {
  expect(() => readAppend({ ...good, messages: [{ role: 'user', content: '', metadata: cycle }] })).toThrow(
    expect.objectContaining({ code: 'VALIDATION_ERROR', field: 'messages.0.metadata' }),
  )
})

it('gives each message without an id a new one, and reports which ids were chosen', () => {
  const id = '01998C1E-9D1C-7CC0-A4A2-6F60C1F1D0A1'
  const { messages, chosenIds } = readAppend({ ...good, messages: [...good.messages, { ...good.messages[0], id }] })
  expect(new Set(messages.map((message) => message.id)).size).toBe(2)
  expect([...chosenIds]).toEqual([id.toLowerCase()])
})

it('derives ids of messages without one from a key, the same each time, and keeps the others', () => {
  const id = '01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a1'
  const keyed = { ...good, idempotencyKey: 'turn-1', messages: [...good.messages, { ...good.messages[0], id }] }
  const { messages, chosenIds } = readAppend(keyed)
  expect(messages).toEqual(readAppend(keyed).messages)
  expect(messages[1]?.id).toBe(id)
  expect(chosenIds.size).toBe(2)
})

it('links replies to the context that the append names, unless they name one themselves', () => {
  const contextId = '01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a1'
  const other = '01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a2'
  const reply = { role: 'assistant', content: 'hello' }
  const { messages } = readAppend({
    ...good,
    contextId,
    messages: [...good.messages, reply, { ...reply, contextId: other }],
  })
  expect(messages.map((message) => message.contextId)).toEqual([undefined, contextId, other])
})
