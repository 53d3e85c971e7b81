import { threadIdOf } from '@heddle/core'
import { type HistoryMessage, listHistory } from '@heddle/store'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { append, appendOne, leaveMarks, PROJECT, prepared, RECEIVED_AT_MS, storeOfTests } from '../support.js'

const database = storeOfTests()

let threads = 0
const freshThread = () => `history ${++threads}`

async function readAll(threadId: string, limit: number, order: 'asc' | 'desc'): Promise<HistoryMessage[][]> {
  const pages: HistoryMessage[][] = []
  let afterSeq: number | undefined
  for (let hasMore = true; hasMore; ) {
    const page = await database.store.inProject(PROJECT, (tx) => listHistory(tx, { threadId, afterSeq, limit, order }))
    if (!page) throw new Error(`no page after ${afterSeq}`)
    pages.push(page.messages)
    hasMore = page.hasMore
    afterSeq = page.messages.at(-1)?.seq
  }
  return pages
}

describe('a history', () => {
  it('shows each message once and in the order of the conversation, whatever the page size', async () => {
    const places = fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(places, fc.integer({ min: 1, max: 13 }), async (atMs, limit) => {
        const messages = atMs.map((at, ordinal) => prepared({}, { ordinal, orderedAtMs: RECEIVED_AT_MS + at }))
        const { threadId } = await appendOne(database.store, append(messages, { thread: freshThread() }))
        const expected = [...messages]
          .sort((left, right) => left.orderedAtMs - right.orderedAtMs || left.ordinal - right.ordinal)
          .map(({ input }) => input.id)
        const oldestFirst = await readAll(threadId, limit, 'asc')
        expect(oldestFirst.flat().map(({ id }) => id)).toEqual(expected)
        expect(oldestFirst.every((page) => page.length <= limit)).toBe(true)
        const newestFirst = await readAll(threadId, limit, 'desc')
        expect(newestFirst.flat().map(({ id }) => id)).toEqual(expected.reverse())
      }),
      { numRuns: 10 },
    )
  })

  it('returns large messages on short pages, and skips no message', async () => {
    const large = 'x'.repeat(3_000_000)
    const messages = [large, large, large, large, 'small'].map((content, ordinal) => prepared({ content }, { ordinal }))
    const { threadId } = await appendOne(database.store, append(messages, { thread: freshThread() }))
    const pages = await readAll(threadId, 100, 'asc')
    expect(pages.map((page) => page.length)).toEqual([3, 2])
    expect(pages.flat().map(({ id }) => id)).toEqual(messages.map(({ input }) => input.id))
  })

  it('counts toward the page size what messages hold beside their texts', async () => {
    const large = 'x'.repeat(3_000_000)
    const call = { id: 'call', name: 'write', arguments: { text: large } }
    const inputs = [
      { role: 'assistant' as const, content: '', toolCalls: [call] },
      { content: 'metadata', metadata: { large } },
      { role: 'assistant' as const, content: 'reasoning', thinking: [{ type: 'thinking' as const, thinking: large }] },
      { content: 'small' },
    ]
    const messages = inputs.map((input, ordinal) => prepared(input as never, { ordinal }))
    const { threadId } = await appendOne(database.store, append(messages, { thread: freshThread() }))
    for (const order of ['asc', 'desc'] as const) {
      const pages = await readAll(threadId, 100, order)
      expect(pages.map((page) => page.length)).toEqual(order === 'asc' ? [3, 1] : [4])
    }
    const sevenfold = Array.from({ length: 7 }, (_, ordinal) =>
      prepared({ content: '', metadata: { large, ordinal } } as never, { ordinal }),
    )
    const { threadId: other } = await appendOne(database.store, append(sevenfold, { thread: freshThread() }))
    expect((await readAll(other, 100, 'asc')).map((page) => page.length)).toEqual([3, 3, 1])
  })

  it('counts toward the page size what its marks show', async () => {
    const large = 'x'.repeat(3_000_000)
    const messages = [large, large, large].map((content, ordinal) => prepared({ content }, { ordinal }))
    const { threadId } = await appendOne(database.store, append(messages, { thread: freshThread() }))
    const ids = messages.map(({ input }) => input.id)
    await leaveMarks(database.store, threadId, { ids, orderedAtMs: RECEIVED_AT_MS + 1_000 })
    const query = { threadId, afterSeq: 2, limit: 100, order: 'asc', withMarks: true } as const
    const page = await database.store.inProject(PROJECT, (tx) => listHistory(tx, query))
    expect(page).toMatchObject({ messages: [{ seq: 3 }, { seq: 4 }, { seq: 5 }], hasMore: true })
  })

  it('of a thread without messages is one empty page, and an unknown cursor is distinguished from it', async () => {
    const query = { threadId: threadIdOf(PROJECT, 'nothing here'), limit: 5, order: 'asc' } as const
    await database.store.inProject(PROJECT, async (tx) => {
      expect(await listHistory(tx, query)).toEqual({ messages: [], hasMore: false })
      expect(await listHistory(tx, { ...query, afterSeq: 7 })).toBeNull()
    })
  })
})
