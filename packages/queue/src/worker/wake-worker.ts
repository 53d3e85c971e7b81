import type { WakeJob, WakeStageName } from '@heddle/contracts'
import type { Logger } from '@heddle/runtime'
import type { Queues } from '../queues.js'
import type { WorkerHandle } from './define.js'
import type { DeadLetter, Job } from './job.js'
import { hereOrElsewhere, type LargeJobs, type WorkSize } from './large-jobs.js'
import type { Outcome } from './outcome.js'

/** The dependencies of a worker that is woken for threads and publishes no events. */
export interface WakeWorkerDeps {
  readonly queues: Queues
  readonly log: Logger
  readonly recordDeadLetter: (letter: DeadLetter) => Promise<void>
  /** Jobs at once; default from the catalog of stages. */
  readonly concurrency?: number
  /** Runs jobs with large messages. Default: this process. */
  readonly large?: LargeJobs<WakeJob, never>
}

/**
 * @param work the handler of the stage, with the limit of its jobs' size
 * @throws RetryableError `SERVICE_UNAVAILABLE` if the queue's server is unreachable
 */
export function defineWakeWorker(
  { queues, log, recordDeadLetter, concurrency, large }: WakeWorkerDeps,
  stage: WakeStageName,
  work: (job: Job<WakeJob>, sizeMax: WorkSize | undefined) => Promise<Outcome>,
): Promise<WorkerHandle> {
  return queues.defineWorker({
    stage,
    handler: (job) => hereOrElsewhere({ job, large, here: (sizeMax) => work(job, sizeMax), publish: () => {} }),
    recordDeadLetter,
    log,
    concurrency,
  })
}
