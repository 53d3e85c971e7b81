import { setImmediate } from 'node:timers/promises'
import { type PostgresConnection, PostgresQueueBackend, type QueueBaseOptions } from 'bullmq'
import { bounds } from '../base/bounds.js'
import { arePlain, type NewJobs } from '../send/plain-jobs.js'
import { completeInBatch } from '../worker/complete.js'
import { JobBatches, type Next } from '../worker/job-batches.js'
import { exchangeJobsOnPostgres } from './exchange-jobs.js'
import { addJobsFunction } from './functions.js'
import { JobArrivals } from './job-arrivals.js'

type Options = ConstructorParameters<typeof PostgresQueueBackend>[2]

/**
 * BullMQ's Postgres backend over a connection that several queues or workers share. BullMQ would open a pool of ten
 * connections for each of them, which with five stages is more than a server of 100 connections has for two processes.
 */
export class SharedPostgresBackend extends PostgresQueueBackend {
  override get maximumBlockTimeout(): number {
    return bounds.blockSecondsMax
  }

  /** Independent jobs are added in one statement; jobs with a deduplication key use BullMQ's own code. */
  override async addJobs(entries: NewJobs): Promise<string[]> {
    if (!arePlain(entries)) return await super.addJobs(entries)
    const payloads = entries.map(({ job }) => Buffer.from(job.data))
    const starts: number[] = []
    let start = 1
    for (const { length } of payloads) {
      starts.push(start)
      start += length
    }
    // Lets the event loop run between encoding megabytes and writing them to the socket.
    if (start > bounds.pauseCharacters) await setImmediate()
    await this.connection.waitUntilReady()
    await this.connection.pool.query(
      `SELECT ${addJobsFunction}($1, $2::text[], $3::text[], $4::text[], $5::integer[], $6::bigint[], $7::bytea, $8::integer[], $9::integer[])`,
      [
        this.queueName,
        entries.map(({ jobId }) => jobId),
        entries.map(({ job }) => job.name),
        entries.map(({ job }) => JSON.stringify(job.opts)),
        entries.map(({ job }) => job.opts.attempts ?? 1),
        entries.map(({ job }) => job.timestamp),
        payloads.length === 1 ? payloads[0] : Buffer.concat(payloads),
        starts,
        payloads.map(({ length }) => length),
      ],
    )
    return entries.map(({ jobId }) => jobId)
  }

  /** Ends the wait of this worker; the shared connection is closed by the `Queues`. */
  override close(): Promise<void> {
    this.closing ??= this.disconnectBlocking()
    return this.closing
  }

  override disconnect(): Promise<void> {
    return this.close()
  }
}

type Complete = PostgresQueueBackend['moveToCompleted']

/** BullMQ gives a worker's backend the options of the worker. */
export type WorkerBackendOptions = QueueBaseOptions & { readonly concurrency: number; readonly lockDuration: number }

/** The same for a worker, which fetches and finishes the jobs of its slots in batches. */
export class PostgresWorkerBackend extends SharedPostgresBackend {
  readonly #batches: JobBatches
  readonly #arrivals: JobArrivals
  /** The mark of the arrivals before the last fetch; null if they were not counted then, or if a job may still wait. */
  #emptyMark: number | null = null
  #isInterrupted = false

  constructor(connection: PostgresConnection, queue: string, options: WorkerBackendOptions) {
    // A worker waits on the connection, so it must be notified when it is lost.
    super(connection, queue, options as unknown as Options, true)
    const { concurrency, lockDuration } = options
    this.#arrivals = new JobArrivals(queue, connection)
    this.#batches = new JobBatches({
      exchangeJobs: async (order) => {
        const { mark } = this.#arrivals
        const exchanged = await exchangeJobsOnPostgres(connection, queue, order)
        if (order.takes > 0) this.#emptyMark = exchanged.mayWait ? null : mark
        return exchanged
      },
      release: ({ id, token }) => this.moveJobFromActiveToWait(id, token),
      concurrency,
      lockMs: lockDuration,
    })
  }

  override async moveToActive(): Promise<Next> {
    return this.#batches.next(await this.#batches.take())
  }

  override waitForJob(timeoutSeconds: number): ReturnType<PostgresQueueBackend['waitForJob']> {
    return this.#batches.wait(() => this.#waitForServer(timeoutSeconds))
  }

  async #waitForServer(timeoutSeconds: number): ReturnType<PostgresQueueBackend['waitForJob']> {
    if (this.#isInterrupted || this.closing !== undefined) return null
    const mark = this.#emptyMark
    if (mark === null) {
      await this.#arrivals.open()
      return await super.waitForJob(timeoutSeconds)
    }
    // BullMQ forgets when the next retry is due if the fetch that found it belonged to a finished or failed job.
    const { nextAtMs } = this.#batches
    const dueMs = nextAtMs === 0 ? Number.POSITIVE_INFINITY : nextAtMs - Date.now()
    const hasArrived = dueMs <= 0 || (await this.#arrivals.wait(mark, Math.min(timeoutSeconds * 1_000, dueMs)))
    return hasArrived ? { member: this.queueName, score: 0 } : null
  }

  override disconnectBlocking(wait?: boolean): Promise<void> {
    this.#isInterrupted = true
    this.#arrivals.cancelWaits()
    return super.disconnectBlocking(wait)
  }

  override reconnectBlocking(): Promise<void> {
    this.#isInterrupted = false
    return super.reconnectBlocking()
  }

  override moveToCompleted(...call: Parameters<Complete>): ReturnType<Complete> {
    const isClosing = this.closing !== undefined
    return completeInBatch(this.#batches, call, { isClosing, completeOne: (...one) => super.moveToCompleted(...one) })
  }

  override close(): Promise<void> {
    this.closing ??= this.#batches.releasePrefetched().finally(() => {
      this.#arrivals.close()
      return this.disconnectBlocking()
    })
    return this.closing
  }
}
