import { type CompactionState, NIL_ID, type Position } from '@heddle/core'
import { loadCoveredAfter, loadCoveredPage, loadUncovered } from '@heddle/store'
import { describe, expect, it } from 'vitest'
import { append, appendOne, newId, PROJECT, prepared, RECEIVED_AT_MS, storeOfTests } from '../support.js'

const database = storeOfTests()

const contentsOf = (messages: readonly { content: string }[]) => messages.map(({ content }) => content).sort()
const at = (place: number): Position => ({ orderedAtMs: RECEIVED_AT_MS + place, ordinal: 0, id: newId() })
const said = (place: number, content = `${place}`) => prepared({ content }, { orderedAtMs: RECEIVED_AT_MS + place })

/** Messages at places 0 to 9; the state keeps 0, covers 1 to 6, and has read all ten. Then some late ones with earlier places. */
async function compactedThread(late: readonly number[]): Promise<{ threadId: string; state: CompactionState }> {
  const messages = Array.from({ length: 10 }, (_, place) => said(place))
  const thread = `compacted ${newId()}`
  const { threadId } = await appendOne(database.store, append(messages, { thread }))
  if (late.length > 0) {
    const came = late.map((place) => said(place, `late ${place}`))
    await appendOne(database.store, append(came, { thread }))
  }
  const covered = { from: { ...at(1), id: NIL_ID }, to: { ...at(6), id: 'ffffffff-ffff-7fff-bfff-ffffffffffff' } }
  const topIds = [messages[0]?.input.id ?? '']
  const state = { point: at(9), headSeq: 10, topIds, covered, summary: 's', summaryTokens: 1, prunings: new Map() }
  return { threadId, state }
}

describe('a compacted thread', () => {
  it('is read as the messages kept at its top, late messages, and the messages after the summary', async () => {
    const { threadId, state } = await compactedThread([3])
    const read = await database.store.inProject(PROJECT, (tx) =>
      loadUncovered(tx, { threadId, clearedSeq: 0, state, keep: 'newest' }),
    )
    expect(contentsOf(read.messages)).toEqual(['0', '7', '8', '9', 'late 3'])
    expect(read.hasMore).toBe(false)
  })

  it('returns late messages up to the limit, in the order of storing, and says that there are more', async () => {
    const { threadId, state } = await compactedThread([5, 4, 3, 2])
    const read = await database.store.inProject(PROJECT, (tx) =>
      loadUncovered(tx, { threadId, clearedSeq: 0, state, keep: 'newest', limit: 3 }),
    )
    expect(contentsOf(read.messages)).toEqual(['0', '7', '8', '9', 'late 3', 'late 4', 'late 5'])
    expect(read.hasMore).toBe(true)
  })

  it('shows no cleared message', async () => {
    const { threadId } = await compactedThread([])
    const read = await database.store.inProject(PROJECT, (tx) =>
      loadUncovered(tx, { threadId, clearedSeq: 8, state: null, keep: 'oldest' }),
    )
    expect(contentsOf(read.messages)).toEqual(['8', '9'])
  })

  it('gives a summarizer the covered messages, oldest first, without late and cleared ones', async () => {
    const { threadId, state } = await compactedThread([3])
    const covered = (clearedSeq: number, limit: number, after: Position | null = null) =>
      database.store.inProject(PROJECT, (tx) => loadCoveredAfter(tx, { threadId, clearedSeq, state, after, limit }))
    const whole = await covered(0, 100)
    expect(contentsOf(whole.messages)).toEqual(['1', '2', '3', '4', '5', '6'])
    expect(whole.next).toBeNull()
    const page = await covered(0, 4)
    expect(page.messages.length).toBeGreaterThan(2)
    const rest = await covered(0, 100, page.next)
    expect(contentsOf([...page.messages, ...rest.messages])).toEqual(contentsOf(whole.messages))
    expect(contentsOf((await covered(4, 100)).messages)).toEqual(['4', '5', '6'])
  })

  it('returns a long range completely in pages, from its end to its beginning', async () => {
    const { threadId, state } = await compactedThread([3])
    // A message kept at the top can be anywhere, also alone in a page.
    const { messages: all } = await database.store.inProject(PROJECT, (tx) =>
      loadCoveredPage(tx, { threadId, clearedSeq: 0, state, limit: 100 }),
    )
    const kept = { ...state, topIds: [all[2]?.id ?? '', all[3]?.id ?? ''] }
    for (const limit of [1, 2, 4, 6, 100]) {
      const pages: string[][] = []
      let before: Position | null = null
      do {
        const { messages, next }: Awaited<ReturnType<typeof loadCoveredPage>> = await database.store.inProject(
          PROJECT,
          (tx) => loadCoveredPage(tx, { threadId, clearedSeq: 0, state: kept, limit, before }),
        )
        pages.unshift(messages.map(({ content }) => content))
        before = next
      } while (before !== null)
      expect(pages.flat()).toEqual(['1', '2', '5', '6'])
    }
  })
})
