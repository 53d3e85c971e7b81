import type { StageName } from '@heddle/contracts'
import { findLaggingThreads, findPendingStates, type Store, type ThreadWork } from '@heddle/store'
import type { Engine } from './engine.js'

interface Selection {
  readonly stage?: StageName
  readonly limit: number
}

/** Wakes that are sent together have a time limit of four seconds, which hundreds of thousands at once would exceed. */
const WAKES_AT_ONCE = 64

/** Later than any time of a next retry, so that failed threads are included. */
const EVER_MS = Date.UTC(9_999, 0, 1)

/** Wakes the stages with unprocessed messages of each thread, even after failures; summarize only after prune is done. */
export async function wakeLagging(engine: Engine, { stage, limit }: Selection): Promise<number> {
  const work = (await findWork(engine.store, limit)).filter((each) => stage === undefined || each.stage === stage)
  for (let from = 0; from < work.length; from += WAKES_AT_ONCE) {
    const some = work.slice(from, from + WAKES_AT_ONCE)
    await engine.queues.rewake(some)
  }
  return work.length
}

async function findWork(store: Store, limit: number): Promise<ThreadWork[]> {
  const [lagging, pending] = await Promise.all([
    findLaggingThreads(store, { limit, nowMs: EVER_MS }),
    findPendingStates(store, { limit, createdBeforeMs: EVER_MS, nowMs: EVER_MS }),
  ])
  const work = new Map([...lagging, ...pending].map((each) => [`${each.stage} ${each.threadId}`, each]))
  return [...work.values()]
}
