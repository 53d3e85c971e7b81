import { findThreadsToReembed, type Store, type ThreadWork } from '@heddle/store'

/** A look takes this much; the rest is found by the next. */
const FOUND_MAX = 1_000

/** Processes that disagree about the model would wake a thread for ever: each gives it up after so many times. */
const WAKES_MAX = 3

/** Threads that are kept in mind; beyond them counting begins anew. */
const REMEMBERED_MAX = 100_000

/**
 * After the model was changed: finds threads that have vectors of the one before, and not yet as many of the new one.
 *
 * @returns finds some of them, at a time in milliseconds
 */
export function createReembedding(store: Store, model: string): (nowMs: number) => Promise<ThreadWork[]> {
  const wakes = new Map<string, number>()
  return async (nowMs) => {
    const found = await findThreadsToReembed(store, { model, limit: FOUND_MAX, nowMs })
    const wanted = found.filter(({ threadId }) => (wakes.get(threadId) ?? 0) < WAKES_MAX)
    if (wakes.size > REMEMBERED_MAX) wakes.clear()
    for (const { threadId } of wanted) wakes.set(threadId, (wakes.get(threadId) ?? 0) + 1)
    return wanted
  }
}
