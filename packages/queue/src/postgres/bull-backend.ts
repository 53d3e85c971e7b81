import { PostgresQueueBackend } from 'bullmq'
import { bounds } from '../bounds.js'

type NewJobs = Parameters<PostgresQueueBackend['addJobs']>[0]

/** Jobs with more characters than this are added one by one. */
const LARGE_JOB_CHARACTERS = 4_000

/**
 * BullMQ's Postgres backend over a connection that several queues or workers share. BullMQ would open a pool of ten
 * connections for each of them, which with five stages is more than a server of 100 connections has for two processes.
 */
export class SharedPostgresBackend extends PostgresQueueBackend {
  override get maximumBlockTimeout(): number {
    return bounds.blockSecondsMax
  }

  /**
   * BullMQ adds many jobs by way of two temporary tables, which large payloads are compressed into and out of again; one by
   * one, ten jobs of 35 kB take a third of the time.
   */
  override async addJobs(entries: NewJobs): Promise<string[]> {
    if (entries.every(({ job }) => (job.data?.length ?? 0) <= LARGE_JOB_CHARACTERS)) return await super.addJobs(entries)
    return await Promise.all(entries.map(({ job, jobId, parentKeyOpts }) => this.addJob(job, jobId, parentKeyOpts)))
  }

  /** Ends this worker's part; the connection belongs to the `Queues` and closes with it. */
  override close(): Promise<void> {
    this.closing ??= this.disconnectBlocking()
    return this.closing
  }

  override disconnect(): Promise<void> {
    return this.close()
  }
}
