import { queueName, type StageName, stages } from '@heddle/contracts'
import type { Backend } from '../base/backend.js'
import { bounds } from '../base/bounds.js'
import { namedError, unavailable } from '../base/errors.js'
import type { TroubleLog } from '../base/trouble-log.js'
import { inTime } from '../base/waiting.js'
import { BullWorker } from './bull-worker.js'
import { closeWorker } from './close.js'
import type { JobSender, Settled, WorkerOptions } from './job.js'
import { createProcessor } from './process.js'
import { RetryLater } from './retry.js'
import type { Pools } from './worker-stats.js'

export interface WorkerHandle {
  readonly stage: StageName
  /** Calls the listener after each attempt of a job, once its outcome is recorded in the queue. */
  onSettled(listener: (settled: Settled) => void): () => void
  /**
   * Fetches no more jobs, waits for the active ones up to `timeoutMs`, then aborts their signals, and abandons those that
   * ignore them. Never takes much longer than `timeoutMs`, even if the server is down.
   */
  close(options?: { timeoutMs?: number }): Promise<void>
}

export interface WorkerSurroundings {
  readonly queues: JobSender
  /** Workers that are closed before the connections; the new one is added. */
  readonly workers: Set<WorkerHandle>
  readonly backend: Backend
  readonly prefix: string
  readonly pools: Pools
  readonly trouble: TroubleLog
}

/** See `Queues.defineWorker`. */
export async function startWorker<Name extends StageName>(
  options: WorkerOptions<Name>,
  { queues, workers, backend, prefix, pools, trouble }: WorkerSurroundings,
): Promise<WorkerHandle> {
  const { stage, log } = options
  const listeners = new Set<(settled: Settled) => void>()
  /** Attempts whose outcome BullMQ has not recorded yet. */
  const ending = new Map<string, Settled>()
  const notify = (settled: Settled) => {
    pools.settled(settled)
    for (const listener of listeners) listener(settled)
  }

  const setup = await backend.workers()
  const worker = new BullWorker(
    queueName(stage),
    createProcessor({ ...options, queues }, { ending: (settled) => ending.set(settled.jobId, settled), ended: notify }),
    {
      connection: setup.connection,
      prefix,
      // Checked and logged once when the queues were opened; BullMQ would print a warning to the console for each worker.
      skipVersionCheck: true,
      concurrency: options.concurrency ?? stages[stage].concurrency,
      lockDuration: options.timing?.lockMs ?? Math.min(stages[stage].lockMs, bounds.lockMsMax),
      stalledInterval: options.timing?.stalledEveryMs ?? bounds.stalledEveryMs,
      // The processor counts stalls itself, so that such a job becomes a dead letter, too.
      maxStalledCount: 1_000_000,
      drainDelay: bounds.blockSecondsMax,
      runRetryDelay: bounds.runRetryMs,
      settings: {
        backoffStrategy: (_attempt, _type, error) => (error instanceof RetryLater ? error.delayMs : bounds.runRetryMs),
      },
    },
    setup.factory,
  )
  let closing: Promise<void> | undefined

  worker.on('error', (error) => {
    if (closing === undefined) trouble.report(error, `worker of ${stage} failed`)
  })
  worker.on('stalled', (jobId) => log.warn({ stage, jobId }, 'took over the job of a worker that died or hung'))
  worker.on('lockRenewalFailed', (jobIds) => {
    for (const jobId of jobIds) worker.cancelJob(jobId, 'another worker took the job over')
  })
  const onWritten = (jobId: string | undefined) => {
    const settled = jobId === undefined ? undefined : ending.get(jobId)
    if (settled === undefined) return
    ending.delete(settled.jobId)
    notify(settled)
  }
  worker.on('completed', (job) => onWritten(job.id))
  worker.on('failed', (job) => onWritten(job?.id))

  const handle: WorkerHandle = {
    stage,
    onSettled(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close({ timeoutMs = bounds.closeMs } = {}) {
      closing ??= closeWorker(worker, timeoutMs, log).finally(() => workers.delete(handle) && pools.stopped(stage))
      return closing
    },
  }
  workers.add(handle)
  pools.started(stage)
  try {
    await inTime(worker.waitUntilReady(), bounds.workersReadyMs, () => unavailable(backend.server))
  } catch (error) {
    await handle.close({ timeoutMs: 0 })
    throw namedError(error, backend.server)
  }
  log.info({ stage }, 'worker started')
  return handle
}
