import type { Store } from '@heddle/store'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { UnpublishedEvents } from './unpublished-events.js'

const PATIENCE_MS = 10_000

/** A store whose queries for unpublished events find nothing, and the start of the period that each query searched. */
function recordingStore() {
  const searchedFromMs: number[] = []
  const tx = async (_: TemplateStringsArray, _limit: number, askedAfterMs: number) => {
    searchedFromMs.push(askedAfterMs)
    return []
  }
  const database = { asReconciler: (work: (run: typeof tx) => Promise<unknown>) => work(tx) }
  const store = { databases: [database] } as unknown as Store
  return { store, searchedFromMs }
}

test('a request that waited for ten minutes is within the period that a later run searches', async () => {
  const clock = new ManualClock()
  const { store, searchedFromMs } = recordingStore()
  const events = new UnpublishedEvents({ store, queues: { publish: async () => {} }, clock, patienceMs: PATIENCE_MS })
  await events.publish()
  const requestedAtMs = clock.nowMs()
  for (let waitedMs = 0; waitedMs < 600_000; waitedMs += 15_000) {
    await clock.advance(15_000)
    await events.publish()
  }
  const before = searchedFromMs.length
  for (let runs = 0; runs < 41; runs++) {
    await clock.advance(15_000)
    await events.publish()
  }
  const later = searchedFromMs.slice(before)
  expect(later.filter((fromMs) => fromMs < requestedAtMs)).toHaveLength(1)
  expect(searchedFromMs[1]).toBe(requestedAtMs - PATIENCE_MS - 120_000)
})
