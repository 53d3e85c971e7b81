import { expect, test } from 'vitest'
import { judge } from './by-design.js'

const HISTORY = 'LIST /v1/threads/run/messages'
const SEARCH = 'POST /v1/search {"query":"x"}'
const original = { id: 'm1', content: 'a', inWindow: false }
const copy = { id: 'm2', content: 'a', metadata: { restored: { message: 'm1' } } }
const recalled = (content: string) => ({ status: 200, body: { messageId: 'm1', content } })
const found = (...ids: string[]) => ({ status: 200, body: { items: ids.map((messageId) => ({ messageId })) } })

test('a copy that became a mark is not a loss: its original is shown and found instead', () => {
  const before = new Map<string, unknown>([
    [HISTORY, [original, copy]],
    [SEARCH, found('m2')],
    ['POST /v1/recall {}', { status: 200, body: { messageId: 'm2', content: 'a' } }],
  ])
  const after = new Map<string, unknown>([
    [HISTORY, [{ ...original, inWindow: true }]],
    [SEARCH, found('m1', 'm7')],
    ['POST /v1/recall {}', recalled('a')],
  ])
  const judged = judge(before, after)
  expect(judged.lost).toEqual([])
  expect([...judged.meant.values()]).toEqual([1])
})

test.each([
  ['a message that is gone', { [HISTORY]: [original, copy] }, { [HISTORY]: [] }],
  ['another content', { [HISTORY]: [original] }, { [HISTORY]: [{ ...original, content: 'b' }] }],
  ['a hit that is gone', { [HISTORY]: [copy], [SEARCH]: found('m5') }, { [HISTORY]: [], [SEARCH]: found('m1') }],
  ['an answer that is gone', { 'GET /v1/contexts/c': { status: 200 } }, {}],
  ['a recall of other bytes', { 'POST /v1/recall {}': recalled('a') }, { 'POST /v1/recall {}': recalled('b') }],
])('%s is a loss', (_, before, after) => {
  expect(judge(new Map(Object.entries(before)), new Map(Object.entries(after))).lost).toHaveLength(1)
})
