import type { PartialSettings } from '@heddle/contracts'
import { cutLeaves, ineligibleReason, leafHash, type SummaryRequest, threadIdOf } from '@heddle/core'
import { fixedSummarizer } from '@heddle/models'
import type { Outcome } from '@heddle/queue'
import { loadCoveredAfter, loadLeaves, type Store, toCompactionState } from '@heddle/store'
import { PART_CALLS_PER_JOB_MAX } from '@heddle/summarize'
import { beforeAll, describe, expect, test } from 'vitest'
import { freshStore, PROJECT } from './store/support.js'
import { compactionOf as compactionIn, pruneOnce, say as sayIn, summarizeOnce, TestSummarizer } from './summarizing.js'

let store: Store

beforeAll(async () => {
  const fresh = await freshStore()
  store = fresh.store
  return fresh.drop
})

const tree = { leafTokens: 600, fanOut: 4 }
const treeSettings: PartialSettings = { strategy: 'tree', budget: 3_000, rollingWindow: null, tree }

const say = (thread: string, from: number, count: number) => sayIn(store, thread, from, count)
const compactionOf = (thread: string, settings: PartialSettings) => compactionIn(store, thread, settings)

/** No job exceeds its limit of summarizer calls. */
async function settle(thread: string, settings: PartialSettings, summarizer: TestSummarizer): Promise<void> {
  const summarizers = fixedSummarizer(summarizer)
  for (let stage = 'prune'; stage === 'prune' || stage === 'summarize'; ) {
    const before = summarizer.asked.length
    const outcome: Outcome =
      stage === 'prune'
        ? await pruneOnce(store, thread, settings)
        : await summarizeOnce(store, thread, settings, summarizers)
    expect(summarizer.asked.length - before).toBeLessThanOrEqual(PART_CALLS_PER_JOB_MAX + 1)
    stage = outcome.next?.[0]?.wake ?? ''
  }
}

const textsOf = (requests: readonly SummaryRequest[]) =>
  requests.flatMap(({ messages }) => messages).map(({ text }) => text)

describe('a thread that is summarized as a tree', () => {
  test('requests only summaries of new messages when it grows, and never of its own summaries', async () => {
    const summarizer = new TestSummarizer()
    await say('grows', 1, 400)
    await settle('grows', treeSettings, summarizer)
    const first = await compactionOf('grows', treeSettings)
    const leavesBefore = await store.inProject(PROJECT, (tx) => loadLeaves(tx, first.current))
    expect(leavesBefore.length).toBeGreaterThan(20)

    const own = first.current.summary ?? ''
    summarizer.asked = []
    await say('grows', 401, 80)
    await settle('grows', treeSettings, summarizer)
    const second = await compactionOf('grows', treeSettings)
    expect(second.current.coveredCount).toBeGreaterThan(first.current.coveredCount)
    const leaves = summarizer.partsOf(600, 4).filter(({ messages }) => messages.length > 0)
    // Eighty messages of 40 tokens make about eight leaves; the open messages are the beginning of the first.
    expect(leaves.length).toBeGreaterThan(0)
    expect(leaves.length).toBeLessThan(14)
    expect(summarizer.asked.some(({ previousSummary }) => previousSummary?.includes(own))).toBe(false)
    for (const { messages } of leaves)
      expect(messages.every(({ text }) => Number(/\d+/.exec(text)?.[0]) > 280)).toBe(true)
  })

  test('has the leaves into which the whole range would be cut, however it grew', async () => {
    const summarizer = new TestSummarizer()
    for (let from = 1; from <= 361; from += 60) {
      await say('steps', from, 60)
      await settle('steps', treeSettings, summarizer)
    }
    const { current, lane } = await compactionOf('steps', treeSettings)
    const threadId = threadIdOf(PROJECT, 'steps')
    const [leaves, read] = await store.inProject(PROJECT, (tx) =>
      Promise.all([
        loadLeaves(tx, current),
        loadCoveredAfter(tx, {
          threadId,
          clearedSeq: 0,
          state: toCompactionState(current),
          after: null,
          limit: 10_000,
        }),
      ]),
    )
    const messages = read.messages.filter((message) => ineligibleReason(message) === null)
    expect(messages).toHaveLength(current.coveredCount)
    const expected = cutLeaves(messages, lane.tree).leaves.map((leaf) => leafHash(leaf, lane.tree))
    expect(leaves.map(({ hash }) => hash)).toEqual(expected)
  })

  test('keeps the parts made before a failure, and the summary in force', async () => {
    const summarizer = new TestSummarizer()
    await say('fails', 1, 300)
    await settle('fails', treeSettings, summarizer)
    const before = await compactionOf('fails', treeSettings)
    await say('fails', 301, 150)
    summarizer.asked = []
    summarizer.failsAfter = 5
    await expect(settle('fails', treeSettings, summarizer)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    const after = await compactionOf('fails', treeSettings)
    expect(after.current).toEqual(before.current)
    const made = textsOf(summarizer.asked)
    summarizer.asked = []
    summarizer.failsAfter = Number.POSITIVE_INFINITY
    await settle('fails', treeSettings, summarizer)
    expect((await compactionOf('fails', treeSettings)).current.id).not.toBe(before.current.id)
    const again = new Set(textsOf(summarizer.partsOf(600, 4)))
    expect(made.filter((text) => again.has(text))).toEqual([])
  })

  test('has every leaf summarized again after a change of summarizer', async () => {
    await say('another', 1, 200)
    await settle('another', treeSettings, new TestSummarizer())
    const { current } = await compactionOf('another', treeSettings)
    const leaves = await store.inProject(PROJECT, (tx) => loadLeaves(tx, current))
    await say('another', 201, 80)
    const other = new TestSummarizer('other')
    await settle('another', treeSettings, other)
    const parts = other.partsOf(600, 4).filter(({ messages }) => messages.length > 0)
    expect(parts.length).toBeGreaterThan(leaves.length)
  })
})

describe('a sandwich over more messages than one summary can cover', () => {
  const settings: PartialSettings = {
    budget: 8_000,
    rollingWindow: null,
    tree: { leafTokens: 1_500, fanOut: 4 },
  }

  test('covers all of them, in jobs of limited length, and later only new leaves, also for another budget', async () => {
    const summarizer = new TestSummarizer()
    await say('long', 1, 2_250)
    await settle('long', settings, summarizer)
    const { current } = await compactionOf('long', settings)
    expect(current.coveredCount).toBeGreaterThan(2_000)
    const read = textsOf(summarizer.asked)
    expect(new Set(read).size).toBe(read.length)
    expect(read.length).toBeGreaterThanOrEqual(current.coveredCount)
    expect(summarizer.asked.length).toBeGreaterThan(50)

    summarizer.asked = []
    await say('long', 2_251, 150)
    await settle('long', settings, summarizer)
    expect(summarizer.asked.length).toBeGreaterThan(0)
    expect(summarizer.asked.length).toBeLessThan(25)

    summarizer.asked = []
    await settle('long', { ...settings, budget: 7_000 }, summarizer)
    expect((await compactionOf('long', { ...settings, budget: 7_000 })).current.coveredCount).toBeGreaterThan(2_000)
    expect(summarizer.asked.length).toBeLessThan(25)
  })
})
