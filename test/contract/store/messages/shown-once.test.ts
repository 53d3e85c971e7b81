import type { CompactionState, Message, Position } from '@heddle/core'
import { growthBetween, loadCoveredAfter, loadCoveredPage, loadDependence, loadUncovered } from '@heddle/store'
import { describe, expect, it } from 'vitest'
import { append, appendOne, leaveMarks, newId, PROJECT, prepared, RECEIVED_AT_MS, storeOfTests } from '../support.js'

const database = storeOfTests()
const texts = (messages: readonly Message[]) => messages.map(({ content, seq }) => [content, seq])
const inOrder = (messages: readonly Message[]) =>
  [...messages].sort((left, right) => left.orderedAtMs - right.orderedAtMs || left.ordinal - right.ordinal)

let threads = 0
/** Messages `0` to `5`, a second apart. */
async function sixMessages() {
  const messages = Array.from({ length: 6 }, (_, index) =>
    prepared({ content: `${index}` }, { orderedAtMs: RECEIVED_AT_MS + index * 1_000 }),
  )
  const { threadId } = await appendOne(database.store, append(messages, { thread: `shown once ${++threads}` }))
  const restore = (places: readonly number[], atS: number) =>
    leaveMarks(database.store, threadId, {
      ids: places.map((place) => messages[place]?.input.id ?? ''),
      orderedAtMs: RECEIVED_AT_MS + atS * 1_000,
    })
  const placeOf = (index: number): Position => ({
    orderedAtMs: RECEIVED_AT_MS + index * 1_000,
    ordinal: 0,
    id: messages[index]?.input.id ?? newId(),
  })
  return { threadId, restore, placeOf }
}

describe('a message and its marks in one window', () => {
  it('are loaded once, at the last position', async () => {
    const { threadId, restore } = await sixMessages()
    await restore([1, 2], 10)
    await restore([2], 20)
    const { messages } = await database.store.inProject(PROJECT, (tx) =>
      loadUncovered(tx, { threadId, clearedSeq: 0, state: null, keep: 'newest' }),
    )
    expect(texts(inOrder(messages))).toEqual([
      ...[0, 3, 4, 5].map((index) => [`${index}`, index + 1]),
      ['1', 7],
      ['2', 9],
    ])
  })

  it('stay at the position that a clear left', async () => {
    const { threadId, restore } = await sixMessages()
    await restore([5], 2)
    const query = { threadId, clearedSeq: 4, lastClearedAtMs: RECEIVED_AT_MS + 3_500 }
    const { messages } = await database.store.inProject(PROJECT, (tx) =>
      loadUncovered(tx, { ...query, state: null, keep: 'newest' }),
    )
    expect(texts(inOrder(messages))).toEqual([
      ['4', 5],
      ['5', 6],
    ])
  })

  it('are not read again from a covered range or the kept top when they are marked again after the summary', async () => {
    const { threadId, restore, placeOf } = await sixMessages()
    const top = placeOf(0).id
    const state: CompactionState = {
      ...{ point: placeOf(4), headSeq: 5, topIds: [top], covered: { from: placeOf(1), to: placeOf(4) } },
      ...{ summary: 'so far', summaryTokens: 2, prunings: new Map() },
    }
    await restore([0, 2, 3], 10)
    const query = { threadId, clearedSeq: 0, state }
    await database.store.inProject(PROJECT, async (tx) => {
      const { messages: uncovered } = await loadUncovered(tx, { ...query, keep: 'newest' })
      expect(inOrder(uncovered).map(({ content }) => content)).toEqual(['5', '0', '2', '3'])
      const covered = await loadCoveredPage(tx, { ...query, limit: 10 })
      expect(covered.messages.map(({ content }) => content)).toEqual(['1', '4'])
      const forward = await loadCoveredAfter(tx, { ...query, limit: 10, after: null })
      expect(forward.messages.map(({ content }) => content)).toEqual(['1', '4'])
    })
  })

  it('invalidate a cached thread, unlike appended messages', async () => {
    const { threadId, restore } = await sixMessages()
    const versions = () =>
      database.store.inProject(PROJECT, async (tx) => {
        const query = { threadId, lanes: ['sandwich'], asOfMs: RECEIVED_AT_MS, rollingWindow: null }
        return (await loadDependence(tx, query)).versions
      })
    const before = await versions()
    await appendOne(database.store, append([prepared()], { thread: `shown once ${threads}` }))
    const grown = await versions()
    expect(growthBetween(before, grown)).toEqual({ fromSeq: 6, toSeq: 7 })
    await restore([1], 10)
    expect(growthBetween(grown, await versions())).toBeNull()
  })
})
