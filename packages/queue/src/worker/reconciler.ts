import type { AssembleJob } from '@heddle/contracts'
import type { Clock, Logger } from '@heddle/runtime'
import { bounds } from '../base/bounds.js'
import type { Queues, StageWake } from '../queues.js'

export interface ReconcilerOptions {
  queues: Queues
  /** Time between two runs, in milliseconds. The first comes sooner: a process that died before may have left work. */
  everyMs: number
  /** Most random time added, so that processes do not all request the lease at once; default a quarter of `everyMs`. */
  jitterMs?: number
  /**
   * Acquires the lease of the next run: any process would find the same, so one is enough.
   *
   * @param apartMs least time since the last run of any process
   * @returns null if this process shall run, else how many milliseconds ago the last run began
   */
  acquireLease(apartMs: number): Promise<number | null>
  /** Threads whose cursors lag behind their heads. */
  findWork(): Promise<readonly StageWake[]>
  /** Contexts and snapshots that were requested a while ago and are neither built nor failed. */
  findRequests(): Promise<readonly AssembleJob[]>
  /** Publishes events of contexts and snapshots whose worker was killed before it could. @returns how many */
  publishMissed(): Promise<number>
  log: Logger
  clock: Clock
}

/** A new process waits only this part of the interval after the last run, because the process of that run may have died. */
const FIRST_SHARE = 1 / 3
/** Part of the jitter that is added when a process only requests the lease again. */
const LEASE_JITTER_SHARE = 1 / 3

/** Counts of one run. */
export interface Reconciled {
  readonly woken: number
  readonly requested: number
  readonly published: number
  /** Whether the run neither failed nor stopped early. */
  readonly isWhole: boolean
}

export interface Reconciler {
  /**
   * Runs once without a lease, or waits for the current run. Never throws: the next run retries what failed.
   */
  runOnce(): Promise<Reconciled>
  close(): Promise<void>
}

/**
 * Finds work without a job and wakes its stage, and publishes the events that a killed worker left out: after a flushed
 * Redis, a crash between a commit and its wake, or a bug, the pipeline catches up by itself.
 *
 * It runs on a timer in its process. A repeatable job would be in the queue, and be lost with everything else that the
 * reconciler restores. Any number of processes may run one: a lease lets one at a time, and a repeated wake is merged.
 */
export function startReconciler(options: ReconcilerOptions): Reconciler {
  const { everyMs, jitterMs = everyMs / 4, acquireLease, log, clock } = options
  const closing = new AbortController()
  let running: Promise<Reconciled> | undefined

  const runOnce = () => {
    running ??= reconcile(options, closing.signal).finally(() => {
      running = undefined
    })
    return running
  }

  const randomMs = () => Math.random() * jitterMs
  const startedAtMs = clock.monotonicMs()
  /** Whether any process has run since this one started. */
  let hasRun = false

  /** @returns milliseconds until the next request for the lease */
  async function runWithLease(): Promise<number> {
    const apartMs = hasRun ? everyMs : everyMs * FIRST_SHARE
    try {
      const sinceMs = await acquireLease(apartMs)
      if (sinceMs !== null) {
        hasRun ||= sinceMs <= clock.monotonicMs() - startedAtMs
        return Math.max(0, apartMs - sinceMs) + randomMs() * LEASE_JITTER_SHARE
      }
    } catch (error) {
      log.warn({ error }, 'reconciler: requesting the lease failed; will retry')
      return apartMs
    }
    if (closing.signal.aborted) return everyMs
    const { woken, requested, published, isWhole } = await runOnce()
    hasRun ||= isWhole
    if (woken + requested + published > 0)
      log.info({ woken, requested, published }, 'reconciler restored lost jobs and events')
    return everyMs + randomMs()
  }

  const loop = (async () => {
    for (let waitMs = randomMs() * LEASE_JITTER_SHARE; !closing.signal.aborted; waitMs = await runWithLease()) {
      try {
        await clock.wait(waitMs, closing.signal)
      } catch {
        return
      }
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

async function reconcile(options: ReconcilerOptions, closing: AbortSignal): Promise<Reconciled> {
  const { queues, findWork, findRequests, publishMissed, log } = options
  const woken = await inBatches(findWork, (some) => queues.rewake(some), { log, closing })
  const requested = await inBatches(
    findRequests,
    async (some) => {
      await queues.addMany('assemble', some)
      return some.length
    },
    { log, closing },
  )
  const published = await publishMissed().catch((error: unknown) => {
    log.warn({ error }, 'reconciler: publishing missed events failed; will retry')
    return null
  })
  return {
    woken: woken.handled,
    requested: requested.handled,
    published: published ?? 0,
    isWhole: woken.isWhole && requested.isWhole && published !== null,
  }
}

/**
 * @param handle returns how many of its items were handled
 * @returns the total; the others are found again by the next run
 */
async function inBatches<Item>(
  find: () => Promise<readonly Item[]>,
  handle: (items: readonly Item[]) => Promise<number>,
  { log, closing }: { log: Logger; closing: AbortSignal },
): Promise<{ handled: number; isWhole: boolean }> {
  let handled = 0
  try {
    const items = await find()
    for (let from = 0; from < items.length && !closing.aborted; from += bounds.reconcileBatch) {
      handled += await handle(items.slice(from, from + bounds.reconcileBatch))
    }
    return { handled, isWhole: !closing.aborted }
  } catch (error) {
    log.warn({ error }, 'reconciler: finding or waking threads failed; will retry')
    return { handled, isWhole: false }
  }
}
