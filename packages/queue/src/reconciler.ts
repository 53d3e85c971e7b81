import type { AssembleJob, WakeStageName } from '@heddle/contracts'
import type { Clock, Logger } from '@heddle/runtime'
import { bounds } from './bounds.js'
import type { Queues } from './queues.js'

export interface LaggingThread {
  stage: WakeStageName
  projectId: string
  threadId: string
}

export interface ReconcilerOptions {
  queues: Queues
  /** Time between two runs, in milliseconds. */
  everyMs: number
  /** Added to it by chance, so that processes do not all look at once; default a quarter of `everyMs`. */
  jitterMs?: number
  /** Threads whose cursors lag behind their heads, for longer than a job would take. */
  findWork(): Promise<readonly LaggingThread[]>
  /** Contexts and snapshots that were requested a while ago and neither made nor failed. */
  findRequests(): Promise<readonly AssembleJob[]>
  /** Tells of what was made a while ago and never told of. @returns how much */
  tellUntold(): Promise<number>
  log: Logger
  clock: Clock
}

/** What one look has brought back. */
export interface Reconciled {
  readonly woken: number
  readonly requested: number
  readonly told: number
}

export interface Reconciler {
  /** Looks once, or waits for the look that is under way. Never throws: what failed is tried again with the next. */
  runOnce(): Promise<Reconciled>
  close(): Promise<void>
}

/**
 * Finds work that no job stands for, and wakes its stage: after a flushed Redis, a crash between a commit and its wake, or
 * a bug, the pipeline catches up by itself.
 *
 * It runs on a timer of its own process. A repeatable job would lie in the queue, and be lost with everything else that
 * the reconciler is there to bring back. Any number of processes may run one: double wakes fall together.
 */
export function startReconciler(options: ReconcilerOptions): Reconciler {
  const { everyMs, jitterMs = everyMs / 4, log, clock } = options
  const closing = new AbortController()
  let running: Promise<Reconciled> | undefined

  const runOnce = () => {
    running ??= reconcile(options).finally(() => {
      running = undefined
    })
    return running
  }

  const loop = (async () => {
    while (!closing.signal.aborted) {
      try {
        await clock.wait(everyMs + Math.random() * jitterMs, closing.signal)
      } catch {
        return
      }
      const { woken, requested, told } = await runOnce()
      if (woken + requested + told > 0) log.info({ woken, requested, told }, 'reconciler brought back what was lost')
    }
  })()

  return {
    runOnce,
    async close() {
      closing.abort()
      await loop
      await running
    },
  }
}

async function reconcile(options: ReconcilerOptions): Promise<Reconciled> {
  const { queues, findWork, findRequests, tellUntold, log } = options
  const woken = await inBatches(
    findWork,
    ({ stage, projectId, threadId }) => queues.rewake(stage, { projectId, threadId }),
    log,
  )
  const requested = await inBatches(findRequests, (job) => queues.add('assemble', job), log)
  const told = await tellUntold().catch((error: unknown) => {
    log.warn({ error }, 'reconciler could not tell of what was not told, and will try again')
    return 0
  })
  return { woken, requested, told }
}

/** @returns how many were handled; the rest is found again by the next run */
async function inBatches<Item>(
  find: () => Promise<readonly Item[]>,
  handle: (item: Item) => Promise<void>,
  log: Logger,
): Promise<number> {
  let handled = 0
  try {
    const items = await find()
    for (let from = 0; from < items.length; from += bounds.reconcileBatch) {
      const batch = items.slice(from, from + bounds.reconcileBatch)
      await Promise.all(batch.map(handle))
      handled += batch.length
    }
  } catch (error) {
    log.warn({ error }, 'reconciler could not look or wake, and will try again')
  }
  return handled
}
