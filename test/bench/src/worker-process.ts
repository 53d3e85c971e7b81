import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { StageName } from '@heddle/contracts'
import { startStages, startTelemetry } from '@heddle/host'
import { done, openQueues, type QueuesOptions } from '@heddle/queue'
import { createLogger, limitHeapGrowth, loadConfig, lowerProcessPriority, systemClock } from '@heddle/runtime'
import { openStore, type StoreOptions } from '@heddle/store'
import { startPlainWorker } from './ingest/plain-bullmq.js'

/** The first message to the process: which workers to run. */
export interface WorkerOrder {
  /**
   * `no-op`: jobs of the stage are completed without work, which measures the queue alone; `bullmq`: the same with a plain
   * BullMQ worker.
   */
  readonly kind: 'stages' | 'no-op' | 'bullmq'
  readonly stages: readonly StageName[]
  readonly databaseUrl: string
  readonly databases: StoreOptions['databases'] | undefined
  readonly queue: QueuesOptions['backend']
  readonly prefix: string
  readonly project: string
  /** The niceness of the process; unchanged if absent. */
  readonly niceness?: number
  /** Whether the process also runs the reconciler and housekeeping. */
  readonly reconcile: boolean
  /** Environment for the keys of providers and for telemetry, instead of that of the measuring process. */
  readonly env: Readonly<Record<string, string>>
}

/** Later message: report when this many more jobs are completed. */
export interface CountOrder {
  readonly kind: 'count'
  readonly jobs: number
}

/** Later message: report the peak memory of the process, and its processor time since it began. */
export interface UsageOrder {
  readonly kind: 'usage'
}

export interface UsageAnswer {
  readonly peakBytes: number
  readonly cpuMs: number
  /** The part of `cpuMs` that the thread of JavaScript used; all of it on systems without such counts. */
  readonly threadMs: number
}

// The worker logs an error for each poison job, and only figures are wanted here.
const log = createLogger({ level: 'fatal', name: 'bench-worker' })
let stop = async () => {}
let jobsLeft = 0

process.on('message', (order: WorkerOrder | CountOrder | UsageOrder) => {
  if (order.kind === 'count') jobsLeft = order.jobs
  else if (order.kind === 'usage') sendUsage()
  else void start(order).then(() => process.send?.('ready'))
})
// The channel also closes when the parent was killed.
process.on('disconnect', () => void stop().finally(() => process.exit()))

async function start(order: WorkerOrder): Promise<void> {
  if (order.niceness !== undefined) lowerProcessPriority(order.niceness)
  if (order.kind === 'bullmq') {
    const worker = await startPlainWorker({ backend: order.queue, prefix: order.prefix }, count)
    stop = () => worker.close()
    return
  }
  const queues = await openQueues({ backend: order.queue, prefix: order.prefix, log, create: true })
  stop = () => queues.close()
  if (order.kind === 'no-op') {
    for (const stage of order.stages) {
      const handler = async () => {
        count()
        return done()
      }
      await queues.defineWorker({ stage, log, handler, recordDeadLetter: async () => {} })
    }
    return
  }
  // As the programs of the stages do.
  limitHeapGrowth()
  const store = openStore({ url: order.databaseUrl, ...(order.databases && { databases: order.databases }) })
  const config = {
    ...loadConfig({ env: { HEDDLE_EMBEDDER: 'hashing', ...telemetryOf(order.env) }, cwd: tmpdir() }),
    project: order.project,
  }
  const telemetry = await startTelemetry(config, { log })
  const running = await startStages({
    store,
    queues,
    config,
    log,
    clock: systemClock,
    stages: order.stages,
    env: order.env,
    reconcile: order.reconcile,
  })
  stop = async () => {
    await running.stop()
    await queues.close()
    await store.close()
    await telemetry.close()
  }
}

function telemetryOf(env: WorkerOrder['env']): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('HEDDLE_TELEMETRY_')))
}

function sendUsage(): void {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
  // The system reports kilobytes and microseconds.
  const cpuMs = (userCPUTime + systemCPUTime) / 1_000
  const usage: UsageAnswer = { peakBytes: maxRSS * 1_024, cpuMs, threadMs: threadMs() ?? cpuMs }
  process.send?.(usage)
}

/** Null where the system has no such file. */
function threadMs(): number | null {
  try {
    // Nanoseconds on a processor, of the first thread.
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return null
  }
}

function count(): void {
  jobsLeft--
  if (jobsLeft === 0) process.send?.('counted')
}
