import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { isWakeStage, queueName, type StageName, type StagePayload, type WakeJob } from '@heddle/contracts'
import { backOffMs, Gatherer } from '@heddle/runtime'
import type { JobsOptions, JobType } from 'bullmq'
import type { Backend } from '../base/backend.js'
import { bounds } from '../base/bounds.js'
import type { BullQueue } from '../base/bull-queue.js'
import { isServerAway } from '../base/errors.js'
import { type JobRemovalScan, scanJobs } from './job-removal.js'
import { encodePayload } from './payload.js'

interface NewJob {
  name: string
  data: string
  opts: JobsOptions
}

export interface QueueStats {
  stage: StageName
  waiting: number
  active: number
  /** Jobs that wait for their next try. */
  delayed: number
  /** Always 0 but for a job that BullMQ failed by itself: dead letters are kept in the store. */
  failed: number
  paused: boolean
  /** How long the oldest waiting job has waited; null if none waits. */
  oldestWaitMs: number | null
}

/** The producers' side of one stage's queue. */
export class StageQueue<Name extends StageName = StageName> {
  readonly stage: Name
  readonly #queue: BullQueue
  readonly #jobs: Gatherer<NewJob>
  readonly #backend: Pick<Backend, 'oldestWaitingAtMs' | 'keyHolders'>

  constructor(stage: Name, backend: Backend, prefix: string, onError: (error: unknown) => void) {
    const setup = backend.producers()
    this.stage = stage
    this.#backend = backend
    this.#queue = new setup.Queue(
      queueName(stage),
      {
        connection: setup.connection,
        prefix,
        // Asked once for all when the server was opened.
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
      flush: (jobs) => persistently(() => this.#queue.addBulk([...jobs])),
      // What waits would meet the same, and is not to pile up.
      onRefused: (error) => (isServerAway(error) ? 'reject-waiting' : 'reject'),
    })
  }

  async add(payload: StagePayload<Name>): Promise<void> {
    if (isWakeStage(this.stage)) return this.wake(payload as WakeJob)
    const encoded = encodePayload(this.stage, payload)
    // A job of usual size is on its way at once.
    const data = typeof encoded === 'string' ? encoded : await encoded
    await this.#jobs.add({ name: this.stage, data, opts: { ...jobOptions, jobId: jobIdOf(this.stage, payload) } })
  }

  /**
   * Wakes the stage for a thread. At most one job of a thread is active and one waits: a wake that finds one waiting is
   * done, and one that finds one active is kept until that has finished, because the active one may have looked already.
   */
  async wake({ projectId, threadId }: WakeJob): Promise<void> {
    const data = JSON.stringify({ projectId, threadId })
    const id = deduplicationId(this.stage, threadId)
    const opts: JobsOptions = {
      ...jobOptions,
      jobId: `${this.stage}-${randomUUID()}`,
      deduplication: { id, keepLastIfActive: true },
    }
    await this.#jobs.add({ name: this.stage, data, opts })
  }

  /**
   * Wakes the stage although the keys that hold back double wakes may be stray ones: a key whose job is in no list any more
   * would hold back every wake of the thread (taskforcesh/bullmq#4311); BullMQ itself only mends those whose job is gone
   * altogether. Threads whose job still waits are left to it: while much waits, that is most of them, each time that
   * somebody looks.
   *
   * @returns how many were woken
   */
  async rewake(jobs: readonly WakeJob[]): Promise<number> {
    const byKey = new Map(jobs.map((job) => [deduplicationId(this.stage, job.threadId), job]))
    const holders = await this.#backend.keyHolders(this.#queue, [...byKey.keys()])
    const asleep = [...byKey].filter(([key]) => !waitingStates.has(holders.get(key)?.state ?? ''))
    await Promise.all(
      asleep.map(async ([key, job]) => {
        const holder = holders.get(key)
        // Not the key of a later job, to which it may have passed since.
        if (holder?.state === 'unknown') await this.#queue.backend.removeDeduplicationKey(key, holder.jobId)
        await this.wake(job)
      }),
    )
    return asleep.length
  }

  async stats(nowMs: number): Promise<QueueStats> {
    const [counts, paused, oldestAtMs] = await Promise.all([
      this.#queue.getJobCounts('waiting', pausedType, 'active', 'delayed', 'failed'),
      this.#queue.isPaused(),
      this.#backend.oldestWaitingAtMs(this.#queue.name),
    ])
    const count = (type: string) => counts[type] ?? 0
    return {
      stage: this.stage,
      waiting: count('waiting') + count('paused'),
      active: count('active'),
      delayed: count('delayed'),
      failed: count('failed'),
      paused,
      oldestWaitMs: oldestAtMs === null ? null : Math.max(0, nowMs - oldestAtMs),
    }
  }

  /** Removes the waiting jobs that are meant, and counts them with who means them. */
  removeJobs(look: Omit<JobRemovalScan, 'queue' | 'stage'>): Promise<void> {
    return scanJobs({ ...look, queue: this.#queue, stage: this.stage })
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

  /** Resolves once everything that was added is with the server, or was refused. */
  whenIdle(): Promise<void> {
    return this.#jobs.whenIdle()
  }

  close(): Promise<void> {
    return this.#queue.close()
  }
}

/**
 * Sits out a short absence of the server, such as a restart: an error would cost each caller a try. What was added before
 * the connection broke is added twice then, which is what delivery at least once means.
 */
async function persistently(add: () => Promise<unknown>): Promise<void> {
  const endMs = performance.now() + bounds.addRetryMs
  for (let tries = 0; ; tries++) {
    const pauseMs = backOffMs(tries, { firstMs: 50, maxMs: bounds.addRetryMs })
    try {
      await add()
      return
    } catch (error) {
      if (!isServerAway(error) || performance.now() + pauseMs > endMs) throw error
    }
    await wait(pauseMs)
  }
}

/**
 * The worker decides on tries, waits and dead letters, with the catalog at hand; BullMQ would fail a job without a dead
 * letter. So its own count of attempts never runs out. Stacks are logged, not kept: they may hold anything.
 */
const jobOptions: JobsOptions = {
  attempts: 1_000_000,
  backoff: { type: 'custom' },
  removeOnComplete: true,
  removeOnFail: true,
  stackTraceLimit: 0,
}

/** Of jobs that have not begun, and will look at all that there is by then. */
const waitingStates: ReadonlySet<string> = new Set(['waiting', 'delayed'])

/** The waiting jobs of a paused queue, in BullMQ's Postgres backend; its types no longer know the name. */
const pausedType = 'paused' as JobType

function deduplicationId(stage: StageName, threadId: string): string {
  return `${stage}-${threadId}`
}

/**
 * An assemble job names a row, so a second one for the same row is the same job: the reconciler may ask as often as it
 * likes. An ingest job carries content, and two must never be taken for one.
 */
function jobIdOf<Name extends StageName>(stage: Name, payload: StagePayload<Name>): string {
  return 'contextId' in payload ? `${stage}-${payload.contextId}` : `${stage}-${randomUUID()}`
}
