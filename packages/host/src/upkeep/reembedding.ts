import { findThreadsToReembed, type Store, type ThreadWork } from '@heddle/store'
import { LRUCache } from 'lru-cache'

/** A look takes this much; the rest is found by the next. */
const FOUND_MAX = 1_000

/** Processes that disagree about the model would wake a thread for ever: each gives it up after so many times. */
const WAKES_MAX = 3

/** Threads whose wakes are counted: a hundred looks of new ones. A thread that comes again after them is counted anew. */
const REMEMBERED_MAX = 100_000

/**
 * After the model was changed: finds threads that have vectors of the one before, and not yet as many of the new one.
 *
 * @returns finds some of them, at a time in milliseconds
 */
export function createReembedding(store: Store, model: string): (nowMs: number) => Promise<ThreadWork[]> {
  // By size, which unlike `max` takes no memory before there are entries: few installations change their model.
  const wakes = new LRUCache<string, number>({ maxSize: REMEMBERED_MAX, sizeCalculation: () => 1 })
  return async (nowMs) => {
    const found = await findThreadsToReembed(store, { model, limit: FOUND_MAX, nowMs })
    const wanted = found.filter(({ threadId }) => (wakes.get(threadId) ?? 0) < WAKES_MAX)
    for (const { threadId } of wanted) wakes.set(threadId, (wakes.get(threadId) ?? 0) + 1)
    return wanted
  }
}
