import type { PartialSettings } from '@heddle/contracts'
import { aheadTokens, dueTokens, threadIdOf } from '@heddle/core'
import { loadCompaction, type Store } from '@heddle/store'
import { beforeAll, describe, expect, test } from 'vitest'
import { freshStore, PROJECT } from './store/support.js'
import { compactionOf, say, settle, TestSummarizer } from './summarizing.js'

let store: Store

beforeAll(async () => {
  const fresh = await freshStore()
  store = fresh.store
  return fresh.drop
})

const tree = { leafTokens: 600, fanOut: 4 }
const settings: PartialSettings = { strategy: 'tree', budget: 6_000, rollingWindow: null, tree }
const MESSAGES = 240
const STEP = 6

class RemoteSummarizer extends TestSummarizer {
  readonly isRemote = true

  leaves(): string[] {
    const parts = this.partsOf(tree.leafTokens, tree.fanOut).filter(({ messages }) => messages.length > 0)
    return parts.map(({ messages }) => messages.map(({ text }) => text).join('\n'))
  }
}

const find = async (thread: string) => {
  const threadId = threadIdOf(PROJECT, thread)
  return await store.inProject(PROJECT, (tx) => loadCompaction(tx, { threadId, settings }))
}

/** Lets a thread grow in steps, each of them settled. */
async function grow(thread: string, summarizer: TestSummarizer, onStep: () => Promise<void> = async () => {}) {
  for (let from = 1; from <= MESSAGES; from += STEP) {
    await say(store, thread, from, STEP)
    await settle(store, thread, settings, summarizer)
    await onStep()
  }
}

describe('leaves of a summary that a model writes', () => {
  test('are made before the compaction is due, which then needs the rest only', async () => {
    const summarizer = new RemoteSummarizer()
    const madeAhead: number[] = []
    const usages: number[] = []
    await grow('ahead', summarizer, async () => {
      const found = await find('ahead')
      if (found?.latest === null) {
        madeAhead.push(summarizer.asked.length)
        if (summarizer.asked.length > 0) usages.push(found.thread.pruneUsage?.tokens ?? 0)
      }
    })
    expect(madeAhead.at(0)).toBe(0)
    expect(madeAhead.at(-1)).toBeGreaterThan(2)
    const { lane, current } = await compactionOf(store, 'ahead', settings)
    expect(Math.min(...usages)).toBeGreaterThanOrEqual(aheadTokens(lane))
    expect(Math.max(...usages)).toBeLessThan(dueTokens(lane))
    expect(current.generation).toBeGreaterThan(1)
  })

  test('are those of a thread that came at once, each made once, and so is the summary', async () => {
    const [stepwise, atOnce] = [new RemoteSummarizer(), new RemoteSummarizer()]
    await grow('stepwise', stepwise)
    await say(store, 'at once', 1, MESSAGES)
    await settle(store, 'at once', settings, atOnce)
    const made = stepwise.leaves()
    expect(new Set(made).size).toBe(made.length)
    const needed = new Set(atOnce.leaves())
    expect([...needed].filter((leaf) => !made.includes(leaf))).toEqual([])
    // Those beyond are parts of the next summary.
    expect(made.length - needed.size).toBeLessThanOrEqual(3)
    const [one, other] = [
      await compactionOf(store, 'stepwise', settings),
      await compactionOf(store, 'at once', settings),
    ]
    expect(one.current).toMatchObject({
      summary: other.current.summary,
      coveredCount: other.current.coveredCount,
      topIds: other.current.topIds,
    })
  })

  test('are not made ahead without a model, nor if an agent turned summaries off', async () => {
    const local = new TestSummarizer()
    await say(store, 'local', 1, 86)
    await settle(store, 'local', settings, local)
    expect((await find('local'))?.latest).toBeNull()
    expect(local.asked).toEqual([])
    const remote = new RemoteSummarizer()
    await say(store, 'off', 1, 86)
    await settle(store, 'off', { ...settings, disableAutoSummarize: true }, remote)
    expect(remote.asked).toEqual([])
    await settle(store, 'local', settings, remote)
    const found = await find('local')
    expect(found?.thread.pruneUsage?.tokens).toBeGreaterThan(aheadTokens(found?.lane as never))
  })

  test('leave a thread settled and its messages in force if the model fails, and are made with the compaction', async () => {
    const failing = new RemoteSummarizer()
    failing.failsAfter = 1
    await expect(grow('failing', failing)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    const found = await find('failing')
    expect(found).toMatchObject({ latest: null, current: null })
    failing.failsAfter = Number.POSITIVE_INFINITY
    await say(store, 'failing', 200, 60)
    await settle(store, 'failing', settings, failing)
    const leaves = failing.leaves()
    expect(new Set(leaves).size).toBe(leaves.length)
    expect((await compactionOf(store, 'failing', settings)).current.summary).not.toBeNull()
  })
})
