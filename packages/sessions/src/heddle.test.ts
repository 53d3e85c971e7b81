import { expect, test } from 'vitest'
import { parseSession } from './parse.js'

function read(...records: object[]) {
  return parseSession(records.map((record) => JSON.stringify(record)).join('\r\n'), {
    fileName: 'a.jsonl',
    format: 'auto',
  })
}

const uuid = '0197A1B2-0000-7000-8000-000000000001'

test('a record is read unchanged', () => {
  const message = {
    role: 'assistant',
    content: 'Hi',
    thinking: [{ text: 'Hm.', signature: 's' }],
    toolCalls: [{ id: 'c', name: 'look', arguments: '{}' }],
    sentAt: '2026-02-12T14:30:00Z',
    model: 'm',
    usage: { input_tokens: 1 },
    contextId: uuid.toLowerCase(),
    pinned: true,
    metadata: { a: [1] },
    keptAside: 'compact-summary',
  }
  const { format, threads } = read(message)
  expect(format).toBe('heddle')
  expect(threads[0]?.messages[0]?.input).toEqual(message)
})

test("a UUID id becomes the message's own id, any other id is the source's", () => {
  const { threads } = read(
    { id: uuid, role: 'user', content: 'a' },
    { id: 'slack-1', role: 'user', content: 'b' },
    { sourceId: 'slack-2', role: 'user', content: 'c' },
    { role: 'user', content: 'd' },
  )
  expect(threads[0]?.messages).toMatchObject([
    { id: uuid.toLowerCase(), identity: uuid.toLowerCase() },
    { id: null, identity: 'slack-1', input: { sourceId: 'slack-1' } },
    { id: null, identity: 'slack-2', input: { sourceId: 'slack-2' } },
    { id: null, identity: expect.stringMatching(/^3-[0-9a-f]{32}$/) },
  ])
})

test('a duplicate record counts once, a different one with its id is refused', () => {
  const message = { id: 'x', role: 'user', content: 'a' }
  expect(read(message, message)).toMatchObject({ threads: [{ messages: [{}] }], skipped: { 'message/repeated': 1 } })
  expect(() => read(message, { ...message, content: 'b' })).toThrow(
    /line 2: id is also that of another message at line 1/,
  )
})

test('an unknown field is refused, not dropped', () => {
  expect(() => read({ role: 'user', content: 'a', sentAt: '2026-02-12T14:30:00Z', color: 'red' })).toThrow(
    /line 1: .*color/,
  )
})
