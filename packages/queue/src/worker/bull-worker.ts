import { type IQueueBackend, type Job, type JobJson, type Span, Worker } from 'bullmq'
import { ConnectionLost, isServerAway } from '../base/errors.js'

export type BullJob = Job<string, void>

/**
 * BullMQ's worker, made to sit out any outage of its server.
 *
 * BullMQ waits and tries again when it meets a connection error as Redis's driver words it. Everything else it takes for
 * a fault of the job at hand, or tries again without a pause: a Postgres that is restarting, or a Redis that is full,
 * would have it spin.
 */
export class BullWorker extends Worker<string, void, string, IQueueBackend> {
  /**
   * A payload that is no JSON is taken as the text that it is, for the processor to bury. BullMQ would throw while it
   * fetches the job, again and again: nobody would hold the job, and every other would wait meanwhile.
   */
  protected override createJob(data: JobJson, jobId: string): BullJob {
    try {
      return super.createJob(data, jobId)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      return super.createJob({ ...data, data: JSON.stringify(data.data) }, jobId)
    }
  }

  /** A job that was taken for any slot of the worker brings the token of its lock along. */
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
    return patiently(super.handleCompleted(result, job, token, fetchNext, span))
  }

  protected override handleFailed(
    error: Error,
    job: BullJob,
    token: string,
    fetchNext?: () => boolean,
    span?: Span,
  ): Promise<BullJob> {
    return patiently(super.handleFailed(error, job, token, fetchNext, span))
  }

  /** Lets go of jobs whose handlers hang: their locks run out and others take them up. */
  async abandonJobs(): Promise<void> {
    await this.lockManager.close()
    await this.backend.close(true)
  }
}

async function patiently<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw isServerAway(error) ? new ConnectionLost(error) : error
  }
}
