import { finishErasure } from '@heddle/engine'
import type { Queues } from '@heddle/queue'
import type { Clock, Config, Logger } from '@heddle/runtime'
import {
  findUnfinishedErasures,
  type RetainedKind,
  readServerClock,
  removeExpired,
  retainedKinds,
  type Store,
  type SweptFiles,
  sweepSnapshotFiles,
} from '@heddle/store'
import { createDueClock, type DueClock } from './due-clock.js'

export interface HousekeepingOptions {
  readonly store: Store
  readonly queues: Queues
  readonly clock: Clock
  readonly log: Logger
  /** How long each kind is kept; null for ever. */
  readonly retention: Config['retention']
  /** Where files of snapshots lie. */
  readonly snapshotsFolder: string
  /** Time between two runs, in milliseconds. */
  readonly everyMs: number
  /** Erasures that began later are left to whoever began them, in milliseconds. */
  readonly patienceMs: number
}

export interface Housekeeping {
  /** Does what is due, or waits for the run that is under way. Never throws: what failed is tried again with the next. */
  runOnce(): Promise<Housekept>
  close(): Promise<void>
}

export interface Housekept {
  /** Erasures that were carried to their end. */
  readonly erasures: number
  /** Rows past their retention that were removed, by kind. */
  readonly removed: Readonly<Partial<Record<RetainedKind, number>>>
  /** Files of snapshots that no row stood for, or that still held what was erased. */
  readonly files: SweptFiles
}

/** Rows that one transaction removes. */
const ROWS_PER_STEP = 1_000
/** Steps of one run and kind: with one run a minute, more than any installation makes. The rest goes with the next. */
const STEPS_MAX = 100
const ERASURES_MAX = 100
const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

const times = (count: number | null, unitMs: number) => (count === null ? null : count * unitMs)

/**
 * Carries on erasures whose process died, and removes what has been kept for long enough, on a timer of its own process.
 * Any number of processes may do so at once.
 */
export function startHousekeeping(options: HousekeepingOptions): Housekeeping {
  const { everyMs, store, clock, log } = options
  const closing = new AbortController()
  const dueClock = createDueClock({ clock, log, readServerMs: () => readServerClock(store) })
  let running: Promise<Housekept> | undefined

  const runOnce = () => {
    running ??= runHousekeeping({ ...options, dueClock }, closing.signal).finally(() => {
      running = undefined
    })
    return running
  }
  const loop = (async () => {
    while (!closing.signal.aborted) {
      try {
        await clock.wait(everyMs * (1 + Math.random() / 4), closing.signal)
      } catch {
        return
      }
      const done = await runOnce()
      if (didSomething(done)) log.info({ ...done }, 'kept house')
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

async function runHousekeeping(
  options: HousekeepingOptions & { dueClock: DueClock },
  signal: AbortSignal,
): Promise<Housekept> {
  const erasures = await carryOn(options, signal)
  const nowMs = await options.dueClock.nowMs()
  if (nowMs === null) return { erasures, removed: {}, files: await sweep(options, signal) }
  const removed: Partial<Record<RetainedKind, number>> = {}
  for (const kind of retainedKinds) {
    const count = await removeOf(options, { kind, nowMs }, signal)
    if (count > 0) removed[kind] = count
  }
  return { erasures, removed, files: await sweep(options, signal) }
}

function didSomething({ erasures, removed, files }: Housekept): boolean {
  return erasures + files.removed + files.rewritten > 0 || Object.keys(removed).length > 0
}

async function sweep({ store, log, snapshotsFolder }: HousekeepingOptions, signal: AbortSignal): Promise<SweptFiles> {
  try {
    return await sweepSnapshotFiles(store, { folder: snapshotsFolder })
  } catch (error) {
    if (!signal.aborted) log.warn({ error }, 'files of snapshots could not be looked after, and will be next time')
    return { removed: 0, rewritten: 0 }
  }
}

async function carryOn({ store, queues, clock, log, patienceMs }: HousekeepingOptions, signal: AbortSignal) {
  let finished = 0
  const warn = (error: unknown) => {
    if (!signal.aborted) log.warn({ error }, 'an erasure could not be carried on, and will be tried again')
  }
  const begunBeforeMs = clock.nowMs() - patienceMs
  const found = findUnfinishedErasures(store, { limit: ERASURES_MAX, begunBeforeMs })
  const targets = await found.catch((error: unknown) => {
    warn(error)
    return []
  })
  for (const target of targets) {
    if (signal.aborted) break
    // One that fails again and again must not stand in the way of those that began after it.
    try {
      await finishErasure({ store, queues }, target, signal)
      finished++
    } catch (error) {
      warn(error)
    }
  }
  return finished
}

async function removeOf(
  { store, log, retention }: HousekeepingOptions,
  { kind, nowMs }: { kind: RetainedKind; nowMs: number },
  signal: AbortSignal,
): Promise<number> {
  const keptMs =
    kind === 'delivered' ? times(retention.deliveredMinutes, MINUTE_MS) : times(retention[`${kind}Days`], DAY_MS)
  if (keptMs === null) return 0
  const beforeMs = nowMs - keptMs
  let removed = 0
  try {
    for (let step = 0; step < STEPS_MAX && !signal.aborted; step++) {
      const count = await removeExpired(store, { kind, beforeMs, limit: ROWS_PER_STEP })
      if (count === 0) break
      removed += count
    }
  } catch (error) {
    log.warn({ error, kind }, 'what is past its retention could not be removed, and will be tried again')
  }
  return removed
}
