import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { isWakeStage, queueName, type StageName, type StagePayload, type WakeJob } from '@heddle/contracts'
import { backOffMs, currentTrace, Gatherer } from '@heddle/runtime'
import type { JobsOptions } from 'bullmq'
import type { Backend, Backlog } from '../base/backend.js'
import { bounds } from '../base/bounds.js'
import { isServerAway, namedError, unavailable } from '../base/errors.js'
import { mergeCarriers } from './carrier.js'
import { type JobRemovalScan, scanJobs } from './job-removal.js'
import { encodePayload } from './payload.js'
import type { NewJob, TextQueue } from './text-queue.js'

export interface QueueStats extends Backlog {
  readonly stage: StageName
  readonly active: number
  /** Jobs that wait for their next attempt, those that are due included. */
  readonly delayed: number
  /** 0 unless BullMQ failed a job by itself: dead letters are kept in the store. */
  readonly failed: number
}

/** The producers' side of one stage's queue. */
export class StageQueue<Name extends StageName = StageName> {
  readonly stage: Name
  readonly #queue: TextQueue
  readonly #jobs: Gatherer<NewJob>
  readonly #backend: Pick<Backend, 'keyHolders' | 'addCauses' | 'server'>

  constructor(stage: Name, backend: Backend, prefix: string, onError: (error: unknown) => void) {
    const setup = backend.producers()
    this.stage = stage
    this.#backend = backend
    this.#queue = new setup.Queue(
      queueName(stage),
      {
        connection: setup.connection,
        prefix,
        // Checked once for all queues when the server was opened.
        skipVersionCheck: true,
        streams: { events: { maxLen: bounds.lifecycleEventsMax } },
      },
      setup.factory,
    )
    this.#queue.on('error', onError)
    this.#jobs = new Gatherer<NewJob>({
      itemsMax: bounds.batchJobsMax,
      weights: [{ of: ({ data }) => data.length, max: bounds.addCharactersMax }],
      batchesMax: bounds.batchesMax,
      identityOf: ({ opts }) => opts.deduplication?.id,
      merge: withCausesOf,
      flush: (jobs) => this.#addAll(jobs),
      limit: { timeoutMs: bounds.producerWaitMs, late: () => unavailable(backend.server) },
      // While the server is down, waiting jobs would fail, too, and must not pile up.
      onRefused: (error) => (isServerAway(error) ? 'reject-waiting' : 'reject'),
    })
  }

  async add(payload: StagePayload<Name>): Promise<void> {
    if (isWakeStage(this.stage)) return this.wake(payload as WakeJob)
    const encoded = encodePayload(this.stage, payload)
    // A job of usual size is sent without an extra tick.
    const data = typeof encoded === 'string' ? encoded : await encoded
    const opts = { ...jobOptions, jobId: jobIdOf(this.stage, payload), ...carried(currentTrace()) }
    await this.#jobs.add({ name: this.stage, data, opts })
  }

  /**
   * Wakes the stage for a thread. At most one job of a thread is active and one waits: a wake while one waits does nothing,
   * and a wake while one is active adds a job after it, because the active one may have read the thread already.
   *
   * @param carrier the traces that cause it, which a waiting job of the thread then carries, too
   */
  async wake({ projectId, threadId }: WakeJob, carrier = currentTrace()): Promise<void> {
    const data = JSON.stringify({ projectId, threadId })
    const id = deduplicationId(this.stage, threadId)
    const opts: JobsOptions = {
      ...jobOptions,
      jobId: `${this.stage}-${randomUUID()}`,
      deduplication: { id, keepLastIfActive: true },
      ...carried(carrier),
    }
    await this.#jobs.add({ name: this.stage, data, opts })
  }

  /**
   * Wakes the stage also if a deduplication key is orphaned. The key of a job that is in no list any more would block every
   * wake of the thread (taskforcesh/bullmq#4311); BullMQ itself only repairs keys whose job no longer exists. Threads with a
   * waiting job are skipped: in a long queue that is most of them.
   *
   * @returns the number of added jobs
   */
  async rewake(jobs: readonly WakeJob[]): Promise<number> {
    const byKey = new Map(jobs.map((job) => [deduplicationId(this.stage, job.threadId), job]))
    const holders = await this.#backend.keyHolders(this.#queue, [...byKey.keys()])
    const asleep = [...byKey].filter(([key]) => !waitingStates.has(holders.get(key)?.state ?? ''))
    await Promise.all(
      asleep.map(async ([key, job]) => {
        const holder = holders.get(key)
        // Removed only for this holder: by now the key may belong to a later job.
        if (holder?.state === 'unknown') await this.#queue.backend.removeDeduplicationKey(key, holder.jobId)
        await this.wake(job)
      }),
    )
    return asleep.length
  }

  async #addAll(jobs: readonly NewJob[]): Promise<void> {
    try {
      await withRetries(() => (isWakeStage(this.stage) ? this.#addWakes(jobs) : this.#queue.addTexts(jobs)))
    } catch (error) {
      throw namedError(error, this.#backend.server)
    }
  }

  async #addWakes(jobs: readonly NewJob[]): Promise<void> {
    const added = await this.#queue.addBulk([...jobs])
    const wakes = jobs.flatMap(({ opts: { jobId = '', deduplication, telemetry } }, index) =>
      // A job with its own id was added with its trace.
      deduplication === undefined || telemetry?.metadata === undefined || added[index]?.id === jobId
        ? []
        : [{ jobId, key: deduplication.id, carrier: telemetry.metadata }],
    )
    // A trace that misses a link is no reason to fail.
    if (wakes.length > 0) await this.#backend.addCauses(this.#queue.name, wakes).catch(() => {})
  }

  async stats(backlog: Backlog): Promise<QueueStats> {
    const { active = 0, delayed = 0, failed = 0 } = await this.#queue.getJobCounts('active', 'delayed', 'failed')
    return { stage: this.stage, ...backlog, active, delayed, failed }
  }

  removeJobs(scan: Omit<JobRemovalScan, 'queue' | 'stage'>): Promise<void> {
    return scanJobs({ ...scan, queue: this.#queue, stage: this.stage })
  }

  pause(): Promise<void> {
    return this.#queue.pause()
  }

  resume(): Promise<void> {
    return this.#queue.resume()
  }

  whenReady(): Promise<unknown> {
    return this.#queue.waitUntilReady()
  }

  /** Resolves once every job was added on the server or refused. */
  whenIdle(): Promise<void> {
    return this.#jobs.whenIdle()
  }

  close(): Promise<void> {
    return this.#queue.close()
  }
}

/**
 * Retries during a short absence of the server, such as a restart. Jobs that were added before the connection broke are then
 * added twice, which is allowed, since delivery is at least once.
 */
async function withRetries<T>(add: () => Promise<T>): Promise<T> {
  const endMs = performance.now() + bounds.addRetryMs
  for (let tries = 0; ; tries++) {
    const pauseMs = backOffMs(tries, { firstMs: 50, maxMs: bounds.addRetryMs })
    try {
      return await add()
    } catch (error) {
      if (!isServerAway(error) || performance.now() + pauseMs > endMs) throw error
    }
    await wait(pauseMs)
  }
}

/**
 * The worker decides on attempts, delays and dead letters, by the catalog; BullMQ would fail a job without a dead letter, so
 * its own limit of attempts is never reached. Stacks are logged and not stored, because they may hold any data.
 */
const jobOptions: JobsOptions = {
  attempts: 1_000_000,
  backoff: { type: 'custom' },
  removeOnComplete: true,
  removeOnFail: true,
  stackTraceLimit: 0,
}

/** States of jobs that have not begun, and will therefore read everything that is stored by then. */
const waitingStates: ReadonlySet<string> = new Set(['waiting', 'delayed'])

/** A wake that waits in this process, with the traces of another one of its thread besides. */
function withCausesOf(waiting: NewJob, added: NewJob): NewJob {
  const carrier = mergeCarriers([waiting.opts.telemetry?.metadata, added.opts.telemetry?.metadata])
  return { ...waiting, opts: { ...waiting.opts, ...carried(carrier) } }
}

function carried(carrier: string | undefined): Pick<JobsOptions, 'telemetry'> {
  return carrier === undefined ? {} : { telemetry: { metadata: carrier } }
}

function deduplicationId(stage: StageName, threadId: string): string {
  return `${stage}-${threadId}`
}

/**
 * An assemble job names a row, so a second job for the same row is the same job: the reconciler can add it repeatedly. An
 * ingest job carries content, so two jobs must never be merged.
 */
function jobIdOf<Name extends StageName>(stage: Name, payload: StagePayload<Name>): string {
  const row = 'contextId' in payload ? payload.contextId : 'snapshotId' in payload ? payload.snapshotId : randomUUID()
  return `${stage}-${row}`
}
