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
  /** Time between two looks, in milliseconds. The first comes sooner: whoever died before may have left work. */
  everyMs: number
  /** Added to it by chance, so that processes do not all ask for a turn at once; default a quarter of `everyMs`. */
  jitterMs?: number
  /**
   * Asks whether this process is to look now, of all that may: all find the same.
   *
   * @param apartMs since the look before, of any process
   * @returns 0, or in how many milliseconds to ask again
   */
  takeTurn(apartMs: number): Promise<number>
  /** Threads whose cursors lag behind their heads, for longer than a job would take. */
  findWork(): Promise<readonly LaggingThread[]>
  /** Contexts and snapshots that were requested a while ago and neither made nor failed. */
  findRequests(): Promise<readonly AssembleJob[]>
  /** Tells of what was made a while ago and never told of. @returns how much */
  tellUntold(): Promise<number>
  log: Logger
  clock: Clock
}

/** So much sooner after the last look is it looked again where a process has started since. */
const SOONER_AT_FIRST = 3

/** What one look has brought back. */
export interface Reconciled {
  readonly woken: number
  readonly requested: number
  readonly told: number
}

export interface Reconciler {
  /**
   * Looks once whoever has the turn, or waits for the look that is under way. Never throws: what failed is tried again with
   * the next.
   */
  runOnce(): Promise<Reconciled>
  close(): Promise<void>
}

/**
 * Finds work that no job stands for, and wakes its stage: after a flushed Redis, a crash between a commit and its wake, or
 * a bug, the pipeline catches up by itself.
 *
 * It runs on a timer of its own process. A repeatable job would lie in the queue, and be lost with everything else that
 * the reconciler is there to bring back. Any number of processes may run one: they take turns, and double wakes fall together.
 */
export function startReconciler(options: ReconcilerOptions): Reconciler {
  const { everyMs, jitterMs = everyMs / 4, takeTurn, log, clock } = options
  const closing = new AbortController()
  let running: Promise<Reconciled> | undefined

  const runOnce = () => {
    running ??= reconcile(options).finally(() => {
      running = undefined
    })
    return running
  }

  const byChanceMs = () => Math.random() * jitterMs
  const startedAtMs = clock.nowMs()
  /** Whether any process has, since this one started. */
  let wasLooked = false

  /** @returns after how many milliseconds to ask for the next turn */
  async function lookInTurn(): Promise<number> {
    const apartMs = wasLooked ? everyMs : everyMs / SOONER_AT_FIRST
    const waitMs = await takeTurn(apartMs).catch((error: unknown) => {
      log.warn({ error }, 'reconciler could not ask for its turn, and will ask again')
      return everyMs
    })
    const lookedAtMs = clock.nowMs() + waitMs - apartMs
    wasLooked ||= waitMs === 0 || lookedAtMs >= startedAtMs
    if (waitMs > 0) return waitMs + byChanceMs() / SOONER_AT_FIRST
    const { woken, requested, told } = await runOnce()
    if (woken + requested + told > 0) log.info({ woken, requested, told }, 'reconciler brought back what was lost')
    return everyMs + byChanceMs()
  }

  const loop = (async () => {
    for (let waitMs = byChanceMs() / SOONER_AT_FIRST; !closing.signal.aborted; waitMs = await lookInTurn()) {
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
