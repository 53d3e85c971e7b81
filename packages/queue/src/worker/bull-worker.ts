import { type IQueueBackend, type Job, type JobJson, type Span, Worker } from 'bullmq'
import { ConnectionLost, isServerAway } from '../base/errors.js'

export type BullJob = Job<string, void>

/**
 * BullMQ's worker, changed so that it waits during any outage of its server.
 *
 * BullMQ waits and retries after connection errors of Redis's driver. Any other error it treats as a fault of the current job,
 * or retries without a pause: with a Postgres that is restarting, or a full Redis, it would spin.
 */
export class BullWorker extends Worker<string, void, string, IQueueBackend> {
  /**
   * A payload that is not JSON is passed to the processor as text, which makes it a dead letter. BullMQ would throw each time
   * it fetches the job, which would then block all others.
   */
  protected override createJob(data: JobJson, jobId: string): BullJob {
    try {
      return super.createJob(data, jobId)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      return super.createJob({ ...data, data: JSON.stringify(data.data) }, jobId)
    }
  }

  /** A prefetched job has its own lock token, which replaces that of the slot. */
  protected override async nextJobFromJobData(data?: JobJson, jobId?: string, token?: string): Promise<BullJob> {
    const job = await super.nextJobFromJobData(data, jobId, token)
    if (job && data && 'token' in data && typeof data.token === 'string') job.token = data.token
    return job
  }

  protected override async moveToActive(token: string, name?: string): Promise<BullJob> {
    try {
      return await super.moveToActive(token, name)
    } catch (error) {
      if (!this.closing) this.emit('error', error as Error)
      throw new ConnectionLost(error)
    }
  }

  protected override handleCompleted(
    // biome-ignore lint/suspicious/noConfusingVoidType: the parameter has BullMQ's type of a result.
    result: void,
    job: BullJob,
    token: string,
    fetchNext?: () => boolean,
    span?: Span,
  ): Promise<BullJob> {
    return asConnectionLost(super.handleCompleted(result, job, token, fetchNext, span))
  }

  protected override handleFailed(
    error: Error,
    job: BullJob,
    token: string,
    fetchNext?: () => boolean,
    span?: Span,
  ): Promise<BullJob> {
    return asConnectionLost(super.handleFailed(error, job, token, fetchNext, span))
  }

  /** Abandons jobs whose handlers hang: their locks expire, and other workers process them. */
  async abandonJobs(): Promise<void> {
    await this.lockManager.close()
    await this.backend.close(true)
  }
}

async function asConnectionLost<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw isServerAway(error) ? new ConnectionLost(error) : error
  }
}
