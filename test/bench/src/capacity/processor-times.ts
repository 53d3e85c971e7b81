import { readFile } from 'node:fs/promises'
import { processTimes, treeSeconds } from '@heddle/test-support/process-times'
import { askRedis } from '@heddle/test-support/servers/queue-server'
import type { Bench } from '../bench.js'
import type { Workers } from '../workers.js'

/** Processor time since some moment, in milliseconds. */
export interface SpentTimes {
  /** Of the threads that run the workers' JavaScript, and of all other threads of their processes. */
  readonly ownMs: number
  readonly helperMs: number
  readonly serverMs: Readonly<Record<string, number>>
  /** Of this process, which watches. */
  readonly watcherMs: number
  /** Of everything on this machine. */
  readonly machineMs: number
}

/** The processor time of the workers and of the servers since they were started. */
export async function spentTimes(bench: Bench, postmaster: number, workers: readonly Workers[]): Promise<SpentTimes> {
  const usages = await Promise.all(workers.map((each) => each.usage()))
  const postgresMs = (treeSeconds(await processTimes(), postmaster) ?? Number.NaN) * 1_000
  const { queue } = bench.servers
  const { user, system } = process.cpuUsage()
  const ownMs = sum(usages.map(({ threadMs }) => threadMs))
  return {
    ownMs,
    helperMs: sum(usages.map(({ cpuMs }) => cpuMs)) - ownMs,
    serverMs: { postgres: postgresMs, ...(queue.kind === 'redis' && { redis: await redisMs(queue.url) }) },
    watcherMs: (user + system) / 1_000,
    machineMs: await machineMs(),
  }
}

export function since(before: SpentTimes, after: SpentTimes): SpentTimes {
  const serverMs = Object.entries(after.serverMs).map(([name, ms]) => [name, ms - (before.serverMs[name] ?? 0)])
  return {
    ownMs: after.ownMs - before.ownMs,
    helperMs: Math.max(0, after.helperMs - before.helperMs),
    serverMs: Object.fromEntries(serverMs),
    watcherMs: after.watcherMs - before.watcherMs,
    machineMs: after.machineMs - before.machineMs,
  }
}

/** The part that belongs to other processes of this machine. */
export function othersMs({ ownMs, helperMs, serverMs, watcherMs, machineMs: all }: SpentTimes): number {
  return Math.max(0, all - ownMs - helperMs - sum(Object.values(serverMs)) - watcherMs)
}

/** The process that started the one of a connection. */
export async function findPostmaster({ sql }: Bench): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  const backend = (await processTimes()).find(({ pid }) => pid === row?.pid)
  if (backend === undefined) throw new Error('the processes of Postgres are not those of this machine')
  return backend.parent
}

async function redisMs(url: string): Promise<number> {
  const text = await askRedis(url, ['INFO', 'cpu'])
  const seconds = ['used_cpu_user', 'used_cpu_sys'].map((name) =>
    Number(new RegExp(`${name}:([\\d.]+)`).exec(text)?.[1]),
  )
  return sum(seconds) * 1_000
}

/** The scheduler counts in hundredths of a second on all Linux systems. */
const TICK_MS = 10
/** Fields of the first line of `/proc/stat`: all but idle, waiting for the disk, and guests, which are counted twice. */
const BUSY_FIELDS = [1, 2, 3, 6, 7]

async function machineMs(): Promise<number> {
  const [line = ''] = (await readFile('/proc/stat', 'utf8')).split('\n')
  const fields = line.split(/\s+/).map(Number)
  return sum(BUSY_FIELDS.map((field) => fields[field] ?? 0)) * TICK_MS
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0)
}
