import { findThreadsToReembed, type Store, type ThreadWork } from '@heddle/store'
import { LRUCache } from 'lru-cache'

/** Most threads found by one run; the next run finds the rest. */
const FOUND_MAX = 1_000

/** Processes with different models would wake a thread for ever: each stops after this many wakes of a thread. */
const WAKES_MAX = 3

/** Threads whose wakes are counted, those of a hundred runs; older counts are dropped. */
const REMEMBERED_MAX = 100_000

/**
 * After a change of the model: finds threads with vectors of an earlier model and fewer of the new one.
 *
 * @returns a function that finds some of them, given the current time in milliseconds
 */
export function createReembedding(store: Store, model: string): (nowMs: number) => Promise<ThreadWork[]> {
  // With `maxSize`, because `max` allocates memory for all entries in advance, and few installations change their model.
  const wakes = new LRUCache<string, number>({ maxSize: REMEMBERED_MAX, sizeCalculation: () => 1 })
  return async (nowMs) => {
    const found = await findThreadsToReembed(store, { model, limit: FOUND_MAX, nowMs })
    const wanted = found.filter(({ threadId }) => (wakes.get(threadId) ?? 0) < WAKES_MAX)
    for (const { threadId } of wanted) wakes.set(threadId, (wakes.get(threadId) ?? 0) + 1)
    return wanted
  }
}
