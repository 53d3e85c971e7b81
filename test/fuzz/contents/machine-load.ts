import { cpus } from 'node:os'
import { processTimes, treeSeconds } from '@heddle/test-support/process-times'

/** Processor time since the start of the machine, in seconds. */
export interface ProcessorTimes {
  /** Of all processors together, idle or not. */
  readonly total: number
  readonly idle: number
  /** Of this process with its descendants; null where the system does not say. */
  readonly own: number | null
}

export async function processorTimes(): Promise<ProcessorTimes> {
  const each = cpus().map(({ times }) => ({ ...times, all: Object.values(times).reduce((sum, ms) => sum + ms, 0) }))
  const sum = (key: 'all' | 'idle') => each.reduce((total, times) => total + times[key], 0) / 1_000
  return { total: sum('all'), idle: sum('idle'), own: treeSeconds(await processTimes(), process.pid) }
}

/** The share of the processors that programs other than this one and its descendants used; null if that is unknown. */
export function shareOfOthers(before: ProcessorTimes, after: ProcessorTimes): number | null {
  if (before.own === null || after.own === null) return null
  const total = after.total - before.total
  const used = total - (after.idle - before.idle)
  if (total <= 0) return null
  return Math.max(0, (used - (after.own - before.own)) / total)
}
