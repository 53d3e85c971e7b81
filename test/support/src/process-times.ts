import { readdir, readFile } from 'node:fs/promises'

/** The scheduler counts in this unit on all Linux systems, whatever its own interval. */
const TICKS_PER_SECOND = 100

export interface ProcessTimes {
  readonly pid: number
  readonly parent: number
  /** With those of its children that have ended. */
  readonly seconds: number
}

/** The processor time of a process with its descendants. @returns null if there is no such process */
export function treeSeconds(all: readonly ProcessTimes[], pid: number): number | null {
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

/** All processes that the system shows; empty where it has no `/proc`. */
export async function processTimes(): Promise<ProcessTimes[]> {
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
