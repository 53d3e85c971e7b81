import type { PartialSettings } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import { type PruneDeps, type Pruned, prune } from '@heddle/prune'
import { done, LargeJobError, skipped } from '@heddle/queue'
import { listStates, loadCompaction, loadThread, type Store } from '@heddle/store'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { erase, threadTarget } from './store/erasure/erasure-support.js'
import { append, appendOne, freshStore, PROJECT, prepared } from './store/support.js'
import { jobFor, say } from './summarizing.js'

let store: Store

beforeAll(async () => {
  const fresh = await freshStore()
  store = fresh.store
  return fresh.drop
})

/** A summary is due from the first messages on, so a job ends with a wake-up of the stage that writes it. */
const settings: PartialSettings = { budget: 4_000, rollingWindow: null }

const wakeOf = (thread: string) => ({ projectId: PROJECT, threadId: threadIdOf(PROJECT, thread) })

const pruneWith = (thread: string, more: Partial<PruneDeps> = {}, signal = new AbortController().signal) =>
  prune({ ...jobFor(thread), signal }, { store, settings, ...more })

/** The compactions of a thread in their order. */
const seriesOf = (thread: string) =>
  store.inProject(PROJECT, async (tx) => {
    const found = await loadCompaction(tx, { threadId: threadIdOf(PROJECT, thread), settings })
    if (!found) throw new Error('the thread is gone')
    const { threadId, clearEpoch } = found.thread
    const states = await listStates(tx, { threadId, lane: found.lane.key, clearEpoch, limit: 100 })
    return states.map(({ generation, coveredCount, status }) => ({ generation, coveredCount, status }))
  })

const pruneSeqOf = async (thread: string) =>
  (await store.inProject(PROJECT, (tx) => loadThread(tx, { threadId: threadIdOf(PROJECT, thread) })))?.pruneSeq

async function pruneUntilSettled(thread: string): Promise<void> {
  while ((await pruneWith(thread)).next.some(({ wake }) => wake === 'prune')) {}
}

test('a job publishes the compactions that are due, and one that is delivered again finds them', async () => {
  await say(store, 'twice', 1, 200)
  const reports: Pruned[] = []
  const onPruned: PruneDeps['onPruned'] = (_, pruned) => void reports.push(pruned)
  const first = await pruneWith('twice', { onPruned })
  const series = await seriesOf('twice')
  expect(series.length).toBeGreaterThan(0)
  expect(reports.length).toBeGreaterThan(0)
  expect(first).toEqual(done([{ wake: 'summarize', ...wakeOf('twice') }]))

  reports.length = 0
  expect(await pruneWith('twice', { onPruned })).toEqual(first)
  expect(await seriesOf('twice')).toEqual(series)
  expect(reports).toEqual([])
})

test('a thread below its trigger is read once, and its cursor is moved to the head', async () => {
  await say(store, 'short', 1, 5)
  expect(await pruneWith('short')).toEqual(done([]))
  expect(await pruneSeqOf('short')).toBe(5)
  expect(await seriesOf('short')).toEqual([])
})

test('a job that is aborted between two compactions wakes the next one, which publishes the same series', async () => {
  await say(store, 'in one', 1, 900)
  await pruneUntilSettled('in one')
  await say(store, 'aborted', 1, 900)
  const abort = new AbortController()
  const ended = await pruneWith('aborted', { onPruned: () => abort.abort() }, abort.signal)
  expect(ended.next[0]).toEqual({ wake: 'prune', ...wakeOf('aborted') })
  await pruneUntilSettled('aborted')
  expect(await seriesOf('aborted')).toEqual(await seriesOf('in one'))
})

test('a job that was aborted before it began publishes nothing, and is woken again', async () => {
  await say(store, 'not begun', 1, 200)
  expect(await pruneWith('not begun', {}, AbortSignal.abort())).toEqual(
    done([{ wake: 'prune', ...wakeOf('not begun') }]),
  )
  expect(await seriesOf('not begun')).toEqual([])
})

test('a job whose transaction is lost publishes nothing, reports nothing, and a retry publishes the same', async () => {
  await say(store, 'lost', 1, 200)
  const inProject: Store['inProject'] = (projectId, work) =>
    store.inProject(projectId, async (tx) => {
      await work(tx)
      throw new Error('the connection was lost')
    })
  const reports: Pruned[] = []
  const lost = { store: { ...store, inProject }, onPruned: (_: string, pruned: Pruned) => void reports.push(pruned) }
  await expect(pruneWith('lost', lost)).rejects.toThrow('the connection was lost')
  expect([await seriesOf('lost'), reports]).toEqual([[], []])
  await pruneWith('lost')
  expect(await seriesOf('lost')).toEqual(await seriesOf('twice'))
})

test('a job that has to read more than its process allows is refused before it changes anything', async () => {
  await say(store, 'large', 1, 200)
  await expect(pruneWith('large', { sizeMax: { messages: 199, tokens: 1e9 } })).rejects.toThrow(LargeJobError)
  expect(await seriesOf('large')).toEqual([])
})

test('messages that are added and too large for its process are not read', async () => {
  await say(store, 'grown', 1, 20)
  await pruneWith('grown')
  const content = 'words of a text '.repeat(70_000)
  await appendOne(store, append([prepared({ content })], { thread: 'grown' }))
  const decoded = vi.spyOn(Buffer.prototype, 'toString')
  onTestFinished(() => decoded.mockRestore())
  const here = pruneWith('grown', { sizeMax: { messages: 150, tokens: 12_000 } })
  await expect(here).rejects.toMatchObject({ name: 'LargeJobError', size: { messages: 1, tokens: 280_000 } })
  expect(Math.max(0, ...decoded.mock.results.map(({ value }) => String(value).length))).toBeLessThan(content.length)
})

test('a thread that was erased meanwhile is skipped', async () => {
  await say(store, 'gone', 1, 200)
  await erase(store, threadTarget(wakeOf('gone')))
  expect(await pruneWith('gone')).toEqual(skipped('the thread is gone'))
})
