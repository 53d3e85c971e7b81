import { type Message, positionOf } from '@heddle/core'
import { listHistory, loadNewestMessages } from '@heddle/store'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { append, appendOne, leaveMarks, PROJECT, prepared, RECEIVED_AT_MS, storeOfTests } from '../support.js'

const database = storeOfTests()

let threads = 0
const freshThread = () => `newest ${++threads}`

async function newestFirst(threadId: string, limit: number): Promise<Message[][]> {
  const pages: Message[][] = []
  for (let hasMore = true; hasMore; ) {
    const oldest = pages.at(-1)?.at(-1)
    const query = { threadId, before: oldest && positionOf(oldest), limit }
    const page = await database.store.inProject(PROJECT, (tx) => loadNewestMessages(tx, query))
    pages.push(page.messages)
    hasMore = page.hasMore
  }
  return pages
}

test('the newest messages are those of the history with the same fields, without the marks of restorations', async () => {
  const places = fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(places, fc.integer({ min: 1, max: 21 }), async (atMs, limit) => {
      const messages = atMs.map((at, ordinal) =>
        prepared({ content: `said ${at}`, metadata: { cwd: '/repo' } }, { ordinal, orderedAtMs: RECEIVED_AT_MS + at }),
      )
      const { threadId } = await appendOne(database.store, append(messages, { thread: freshThread() }))
      const ids = messages.slice(0, 2).map(({ input }) => input.id)
      await leaveMarks(database.store, threadId, { ids, orderedAtMs: RECEIVED_AT_MS + 1_000 })
      const query = { threadId, limit: 100, order: 'desc' } as const
      const history = await database.store.inProject(PROJECT, (tx) => listHistory(tx, query))
      const pages = await newestFirst(threadId, limit)
      expect(history?.messages).toMatchObject(pages.flat())
      expect(history?.messages).toHaveLength(messages.length)
      expect(pages.every((page) => page.length <= limit)).toBe(true)
    }),
    { numRuns: 20 },
  )
})

test('pages of large messages are short, and none of them is skipped', async () => {
  const large = 'x'.repeat(3_000_000)
  const messages = [large, large, large, large, 'small'].map((content, ordinal) => prepared({ content }, { ordinal }))
  const { threadId } = await appendOne(database.store, append(messages, { thread: freshThread() }))
  expect((await newestFirst(threadId, 100)).map((page) => page.length)).toEqual([4, 1])
})

test('a page has as many bytes as asked for, beyond which only its oldest message goes', async () => {
  const messages = ['a', 'b', 'c', 'd'].map((letter, ordinal) =>
    prepared({ content: letter.repeat(1_000) }, { ordinal }),
  )
  const { threadId } = await appendOne(database.store, append(messages, { thread: freshThread() }))
  const load = (bytesMax: number) =>
    database.store.inProject(PROJECT, (tx) => loadNewestMessages(tx, { threadId, limit: 100, bytesMax }))
  const { bytes: whole } = await load(1_000_000)
  const part = await load(whole / 2)
  expect(part.messages.map(({ content }) => content[0])).toEqual(['d', 'c'])
  expect(part).toMatchObject({ bytes: whole / 2, hasMore: true })
  expect((await load(1)).messages).toHaveLength(1)
})

test('a thread without messages has one empty page', async () => {
  expect(await newestFirst('00000000-0000-4000-8000-000000000000', 10)).toEqual([[]])
})
