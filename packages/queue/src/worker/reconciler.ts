import type { AssembleJob } from '@heddle/contracts'
import type { Clock, Logger } from '@heddle/runtime'
import { bounds } from '../base/bounds.js'
import type { Queues, StageWake } from '../queues.js'

export interface ReconcilerOptions {
  queues: Queues
  /** Time between two looks, in milliseconds. The first comes sooner: whoever died before may have left work. */
  everyMs: number
  /** Added to it by chance, so that processes do not all ask for a turn at once; default a quarter of `everyMs`. */
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
  /** Contexts and snapshots that were requested a while ago and neither made nor failed. */
  findRequests(): Promise<readonly AssembleJob[]>
  /** Publishes events of contexts and snapshots whose worker was killed before it could. @returns how many */
  publishMissed(): Promise<number>
  log: Logger
  clock: Clock
}

/** A process that starts does not wait for the whole time since the last look: whoever looked then may have died since. */
const FIRST_SHARE = 1 / 3
/** What chance adds where a process only asks again. */
const ASK_JITTER_SHARE = 1 / 3

/** What one look has brought back. */
export interface Reconciled {
  readonly woken: number
  readonly requested: number
  readonly told: number
  /** Whether nothing of it failed or was left. */
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

  const byChanceMs = () => Math.random() * jitterMs
  const startedAtMs = clock.monotonicMs()
  /** Whether any process has, since this one started. */
  let wasLooked = false

  /** @returns after how many milliseconds to ask for the next turn */
  async function lookInTurn(): Promise<number> {
    const apartMs = wasLooked ? everyMs : everyMs * FIRST_SHARE
    try {
      const sinceMs = await acquireLease(apartMs)
      if (sinceMs !== null) {
        wasLooked ||= sinceMs <= clock.monotonicMs() - startedAtMs
        return Math.max(0, apartMs - sinceMs) + byChanceMs() * ASK_JITTER_SHARE
      }
    } catch (error) {
      log.warn({ error }, 'reconciler could not ask for its turn, and will ask again')
      return apartMs
    }
    if (closing.signal.aborted) return everyMs
    const { woken, requested, told, isWhole } = await runOnce()
    wasLooked ||= isWhole
    if (woken + requested + told > 0) log.info({ woken, requested, told }, 'reconciler brought back what was lost')
    return everyMs + byChanceMs()
  }

  const loop = (async () => {
    for (let waitMs = byChanceMs() * ASK_JITTER_SHARE; !closing.signal.aborted; waitMs = await lookInTurn()) {
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
  const told = await publishMissed().catch((error: unknown) => {
    log.warn({ error }, 'reconciler: publishing missed events failed; will retry')
    return null
  })
  return {
    woken: woken.handled,
    requested: requested.handled,
    told: told ?? 0,
    isWhole: woken.isWhole && requested.isWhole && told !== null,
  }
}

/**
 * @param handle tells how many of some needed it
 * @returns how many did; what is left is found again by the next look
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
    log.warn({ error }, 'reconciler could not look or wake, and will try again')
    return { handled, isWhole: false }
  }
}
