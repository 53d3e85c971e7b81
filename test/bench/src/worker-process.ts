import { tmpdir } from 'node:os'
import type { StageName } from '@heddle/contracts'
import { startStages } from '@heddle/host'
import { done, openQueues, type QueuesOptions } from '@heddle/queue'
import { createLogger, loadConfig, lowerProcessPriority, systemClock } from '@heddle/runtime'
import { openStore } from '@heddle/store'
import { startPlainWorker } from './ingest/plain-bullmq.js'

/** What the process is told first: which workers to run. */
export interface WorkerOrder {
  /**
   * `no-op`: jobs of the stage are taken and done with, which is what the queue alone can do; `bullmq`: the same by BullMQ's
   * own worker, without Heddle.
   */
  readonly kind: 'stages' | 'no-op' | 'bullmq'
  readonly stages: readonly StageName[]
  readonly databaseUrl: string
  readonly queue: QueuesOptions['backend']
  readonly prefix: string
  readonly project: string
  /** How far the process stands back for others of the machine; as it was started where it is not given. */
  readonly niceness?: number
  /** Where keys of providers are looked for, instead of the environment of whoever measures. */
  readonly env: Readonly<Record<string, string>>
}

/** Later: tell when so many more jobs were done with. */
export interface CountOrder {
  readonly kind: 'count'
  readonly jobs: number
}

// Poison has its worker complain of each job: figures are what this is for.
/** Later: tell the most memory that the process has held. */
export interface MemoryOrder {
  readonly kind: 'memory'
}

export interface MemoryAnswer {
  readonly peakBytes: number
}

const log = createLogger({ level: 'fatal', name: 'bench-worker' })
let stop = async () => {}
let jobsLeft = 0

process.on('message', (order: WorkerOrder | CountOrder | MemoryOrder) => {
  if (order.kind === 'count') jobsLeft = order.jobs
  else if (order.kind === 'memory') tellMemory()
  else void start(order).then(() => process.send?.('ready'))
})
// Also when the parent was killed: the channel closes with it.
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
  const store = openStore({ url: order.databaseUrl })
  const config = {
    ...loadConfig({ env: { HEDDLE_EMBEDDER: 'hashing' }, cwd: tmpdir() }),
    project: order.project,
  }
  const running = await startStages({
    store,
    queues,
    config,
    log,
    clock: systemClock,
    stages: order.stages,
    env: order.env,
    reconcile: false,
  })
  stop = async () => {
    await running.stop()
    await queues.close()
    await store.close()
  }
}

function tellMemory(): void {
  // The system counts kilobytes.
  process.send?.({ peakBytes: process.resourceUsage().maxRSS * 1_024 } satisfies MemoryAnswer)
}

function count(): void {
  jobsLeft--
  if (jobsLeft === 0) process.send?.('counted')
}
