import { readdir, readFile } from 'node:fs/promises'
import { cpus } from 'node:os'

/** Processor time since the start of the machine, in seconds. */
export interface ProcessorTimes {
  /** Of all processors together, idle or not. */
  readonly total: number
  readonly idle: number
  /** Of this process with its descendants; null where the system does not say. */
  readonly own: number | null
}

/** The scheduler counts in this unit on all Linux systems, whatever its own interval. */
const TICKS_PER_SECOND = 100

export async function processorTimes(): Promise<ProcessorTimes> {
  const each = cpus().map(({ times }) => ({ ...times, all: Object.values(times).reduce((sum, ms) => sum + ms, 0) }))
  const sum = (key: 'all' | 'idle') => each.reduce((total, times) => total + times[key], 0) / 1_000
  return { total: sum('all'), idle: sum('idle'), own: ownSeconds(await processes(), process.pid) }
}

/** The share of the processors that programs other than this one and its descendants used; null if that is unknown. */
export function shareOfOthers(before: ProcessorTimes, after: ProcessorTimes): number | null {
  if (before.own === null || after.own === null) return null
  const total = after.total - before.total
  const used = total - (after.idle - before.idle)
  if (total <= 0) return null
  return Math.max(0, (used - (after.own - before.own)) / total)
}

export interface ProcessTimes {
  readonly pid: number
  readonly parent: number
  /** With those of its children that have ended. */
  readonly seconds: number
}

/** @returns null if there is no such process */
export function ownSeconds(all: readonly ProcessTimes[], pid: number): number | null {
  const byParent = new Map<number, ProcessTimes[]>()
  for (const one of all) byParent.set(one.parent, [...(byParent.get(one.parent) ?? []), one])
  const root = all.find((one) => one.pid === pid)
  if (root === undefined) return null
  let seconds = 0
  const open = [root]
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    seconds += one.seconds
    open.push(...(byParent.get(one.pid) ?? []))
  }
  return seconds
}

async function processes(): Promise<ProcessTimes[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const read = pids.map(async (pid) => readStatus(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')))
  return (await Promise.all(read)).filter((one) => one !== null)
}

/** @param text of `/proc/PID/stat`; its second field is the name of a program, which may hold anything */
export function readStatus(text: string): ProcessTimes | null {
  const [, pid] = /^(\d+) \(/.exec(text) ?? []
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [parent, ticks] = [Number(fields[1]), fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)]
  if (pid === undefined || !Number.isFinite(parent + ticks)) return null
  return { pid: Number(pid), parent, seconds: ticks / TICKS_PER_SECOND }
}
