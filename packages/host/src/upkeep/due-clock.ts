import type { Clock, Logger } from '@heddle/runtime'

export interface DueClock {
  /** The time by which something may be removed as past its retention; null where the database does not say. */
  nowMs(): Promise<number | null>
}

export interface DueClockOptions {
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn' | 'info'>
  /** The time of day of the database's machine. */
  readServerMs(): Promise<number>
}

/** Between clocks that time servers look after, and that a busy machine reads late. */
const SKEW_MS_MAX = 60_000

/**
 * A clock for what cannot be taken back. The time of day may jump a year ahead, by hand or by a time server that is wrong, on
 * this machine, on that of the database, or on both where they are one. So the earliest of three counts: both times of day, and
 * the time at which this process started with the time that has passed since, which nothing sets. What is due is removed later
 * then, never too soon.
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
