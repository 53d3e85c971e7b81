import type { Clock, Logger } from '@heddle/runtime'

export interface DueClock {
  /** The time that decides whether data is past its retention; null if the database does not answer. */
  nowMs(): Promise<number | null>
}

export interface DueClockOptions {
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn' | 'info'>
  /** The time of day of the database's machine. */
  readServerMs(): Promise<number>
}

/** Larger than the differences of synchronized clocks, and than the delay of reading one on a busy machine. */
const SKEW_MS_MAX = 60_000

/**
 * A clock for irreversible removals. The time of day may jump a year ahead, set by hand or by a wrong time server, on this
 * machine, on that of the database, or on both if they are the same. So the earliest of three times is used: the two times of
 * day, and the start time of this process plus its monotonic time. Then data may be removed late, but never too soon.
 */
export function createDueClock({ clock, log, readServerMs }: DueClockOptions): DueClock {
  const startedMs = clock.nowMs() - clock.monotonicMs()
  let wasSkewed = false
  return {
    async nowMs() {
      let serverMs: number
      try {
        serverMs = await readServerMs()
      } catch {
        return null
      }
      const machineMs = clock.nowMs()
      const elapsedMs = startedMs + clock.monotonicMs()
      const earliestMs = Math.min(machineMs, serverMs, elapsedMs)
      const isSkewed = Math.max(machineMs, serverMs, elapsedMs) - earliestMs > SKEW_MS_MAX
      if (isSkewed !== wasSkewed) {
        const facts = { machineMs, serverMs, elapsedMs }
        if (isSkewed) log.warn(facts, 'clocks differ, or the machine slept: housekeeping goes by the earliest of them')
        else log.info(facts, 'clocks agree again')
      }
      wasSkewed = isSkewed
      return earliestMs
    },
  }
}
