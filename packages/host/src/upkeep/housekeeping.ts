import { finishErasure } from '@heddle/engine'
import type { Queues } from '@heddle/queue'
import type { Clock, Config, Logger } from '@heddle/runtime'
import {
  endPins,
  findUnfinishedErasures,
  type RetainedKind,
  readServerClock,
  removeExpired,
  retainedKinds,
  type Store,
  type SweptFiles,
  sweepSnapshotFiles,
  TableShrinker,
} from '@heddle/store'
import { createDueClock, type DueClock } from './due-clock.js'

export interface HousekeepingOptions {
  readonly store: Store
  readonly queues: Queues
  readonly clock: Clock
  readonly log: Logger
  /** How long each kind is kept; null for ever. */
  readonly retention: Config['retention']
  readonly snapshotsFolder: string
  /** Time between two runs, in milliseconds. */
  readonly everyMs: number
  /** Erasures younger than this are left to the process that began them, in milliseconds. */
  readonly patienceMs: number
}

export interface Housekeeping {
  /** Runs once, or waits for the current run. Never throws: failures are retried by the next run. */
  runOnce(): Promise<Housekept>
  close(): Promise<void>
}

export interface Housekept {
  /** Erasures that were finished. */
  readonly erasures: number
  /** Rows past their retention that were removed, by kind. */
  readonly removed: Readonly<Partial<Record<RetainedKind, number>>>
  /** Threads with pins that ended. */
  readonly pins: number
  /** Snapshot files without a row, or with erased content. */
  readonly files: SweptFiles
  /** Tables that were shrunk, whose space was mostly that of rows which are gone. */
  readonly shrunk: number
}

/** Rows removed by one transaction. */
const ROWS_PER_STEP = 1_000
/** Steps of one run for each kind: with one run a minute, more rows than any installation creates. */
const STEPS_MAX = 100
const ERASURES_MAX = 100
const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

const times = (count: number | null, unitMs: number) => (count === null ? null : count * unitMs)

/**
 * Finishes erasures whose process died, and removes data past its retention, on a timer. Any number of processes may do so at
 * once.
 */
export function startHousekeeping(options: HousekeepingOptions): Housekeeping {
  const { everyMs, store, clock, log } = options
  const closing = new AbortController()
  const tables = store.databases.map((database) => new TableShrinker(database))
  const dueClock = createDueClock({ clock, log, readServerMs: () => readServerClock(store) })
  let running: Promise<Housekept> | undefined

  const runOnce = () => {
    running ??= runHousekeeping({ ...options, dueClock, tables }, closing.signal).finally(() => {
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
      if (didSomething(done)) log.info({ ...done }, 'housekeeping finished')
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
  options: HousekeepingOptions & { dueClock: DueClock; tables: readonly TableShrinker[] },
  signal: AbortSignal,
): Promise<Housekept> {
  const erasures = await finishErasures(options, signal)
  const nowMs = await options.dueClock.nowMs()
  const removed: Partial<Record<RetainedKind, number>> = {}
  for (const kind of nowMs === null ? [] : retainedKinds) {
    const count = await removeOf(options, { kind, nowMs: nowMs ?? 0 }, signal)
    if (count > 0) removed[kind] = count
  }
  const pins = nowMs === null ? 0 : await takeBackPins(options, nowMs, signal)
  return { erasures, removed, pins, files: await sweep(options, signal), shrunk: await shrink(options, signal) }
}

function didSomething({ erasures, removed, pins, files, shrunk }: Housekept): boolean {
  return erasures + pins + files.removed + files.rewritten + shrunk > 0 || Object.keys(removed).length > 0
}

/** Takes back pins whose end has come, so that compactions include their messages again. */
async function takeBackPins(
  { store, queues, log }: HousekeepingOptions,
  beforeMs: number,
  signal: AbortSignal,
): Promise<number> {
  try {
    const threads = await endPins(store, { beforeMs, limit: ROWS_PER_STEP })
    for (const thread of threads) await queues.wake('prune', thread)
    return threads.length
  } catch (error) {
    if (!signal.aborted) log.warn({ error }, 'ending pins failed; will retry')
    return 0
  }
}

async function sweep({ store, log, snapshotsFolder }: HousekeepingOptions, signal: AbortSignal): Promise<SweptFiles> {
  try {
    return await sweepSnapshotFiles(store, { folder: snapshotsFolder })
  } catch (error) {
    if (!signal.aborted) log.warn({ error }, 'cleaning up snapshot files failed; will retry')
    return { removed: 0, rewritten: 0 }
  }
}

async function shrink(
  { queues, tables, log }: HousekeepingOptions & { tables: readonly TableShrinker[] },
  signal: AbortSignal,
): Promise<number> {
  let shrunk = 0
  for (const release of [() => queues.releaseSpace(), ...tables.map((table) => () => table.shrink(signal))]) {
    try {
      shrunk += await release()
    } catch (error) {
      if (!signal.aborted)
        log.warn({ error }, 'space of rows that are gone could not be released, and will be next time')
    }
  }
  return shrunk
}

async function finishErasures({ store, queues, clock, log, patienceMs }: HousekeepingOptions, signal: AbortSignal) {
  let finished = 0
  const warn = (error: unknown) => {
    if (!signal.aborted) log.warn({ error }, 'finishing an erasure failed; will retry')
  }
  const begunBeforeMs = clock.nowMs() - patienceMs
  const found = findUnfinishedErasures(store, { limit: ERASURES_MAX, begunBeforeMs })
  const targets = await found.catch((error: unknown) => {
    warn(error)
    return []
  })
  for (const target of targets) {
    if (signal.aborted) break
    // An erasure that fails repeatedly must not block later ones.
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
    log.warn({ error, kind }, 'removing data past its retention failed; will retry')
  }
  return removed
}
