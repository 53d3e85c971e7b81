import type {
  HeddleEvent,
  ModelCalls,
  PoolWork,
  Reply,
  StageName,
  StagePayload,
  SummaryCall,
  WakeJob,
  WakeStageName,
} from '@heddle/contracts'
import type { NewShare, ShareRequest } from './admission/load-report.js'
import type { NewWork } from './admission/queue-capacity.js'
import type { Backlog, QueueFacts } from './base/backend.js'
import type { ExpectedReply, ReplyExpectation } from './reply/reply-waiter.js'
import type { EventListener, Unsubscribe } from './reply/subscriptions.js'
import type { WaitingJob } from './send/job-removal.js'
import type { QueueStats } from './send/stage-queue.js'
import type { TracedWake } from './send/wakes.js'
import type { WorkerHandle } from './worker/define.js'
import type { WorkerOptions } from './worker/job.js'
import type { Answer } from './worker/outcome.js'

/** A thread with work for a stage. */
export interface StageWake extends WakeJob {
  readonly stage: WakeStageName
}

/**
 * The queues of all stages, replies and events, for producers and workers of one process.
 *
 * Every function that talks to the server ends within `bounds.producerWaitMs`, or throws RetryableError
 * `SERVICE_UNAVAILABLE`.
 */
export interface Queues {
  /** The name of this process's reply inbox: the `replyTo` of its jobs. */
  readonly inbox: string
  /**
   * Adds a job. Jobs that are added within one tick are sent together. For a wake stage it is the same as `wake`.
   *
   * @param bytes the size that was passed to `acquireShare`
   */
  add<Name extends StageName>(stage: Name, payload: StagePayload<Name>, bytes?: number): Promise<void>
  addMany<Name extends StageName>(stage: Name, payloads: readonly StagePayload<Name>[]): Promise<void>
  /**
   * Reserves capacity in the queue of ingest; to be called before adding. Most calls need no round trip.
   *
   * @throws RetryableError `RATE_LIMITED` with `retryAfter` while the queue is full
   */
  admit(work: NewWork): Promise<void>
  /**
   * Acquires a place in a project's share of the open jobs of all processes; to be called before any other work for the
   * request. The share is limited only while other projects have open jobs.
   *
   * @returns a function that releases the place; to be called when the request has ended
   * @throws RetryableError `RATE_LIMITED` with `retryAfter` while the project has reached its share
   */
  acquireShare(share: NewShare): () => void
  /**
   * Checks for a free place in a project's share without acquiring it, for a caller that is about to read a request's body.
   *
   * @throws RetryableError as {@link acquireShare}
   */
  checkShare(share: ShareRequest): void
  /**
   * Wakes a stage for a thread; at most one job of a thread is active and one waits.
   *
   * @param carrier the traces that cause it. Default: that of the span under way
   */
  wake(stage: WakeStageName, thread: WakeJob, carrier?: string): Promise<void>
  wakeMany(stage: WakeStageName, threads: readonly TracedWake[]): Promise<void>
  /**
   * Like `wake`, but first removes deduplication keys of lost jobs, which would block the wake. For the reconciler.
   *
   * @returns the number of added jobs; the other threads have a waiting job already
   */
  rewake(wakes: readonly StageWake[]): Promise<number>
  /**
   * Notifies the sender of a job that its answer is in the store, or sends the error. May be lost.
   *
   * @param answer sent within the reply if it is small enough for the channel
   */
  reply(inbox: string, reply: Reply, answer?: Answer): Promise<void>
  /** Most bytes of an answer within a reply, as encoded; 0 if replies carry no answers. */
  answerBytesMax(inbox: string): number
  /** Registers for a reply; call it before enqueuing the job. */
  expectReply<T>(expectation: ReplyExpectation<T>): ExpectedReply<T>
  /** Publishes an event to current subscribers. May be lost: subscribers resume from the store by the event's number. */
  publish(event: HeddleEvent): Promise<void>
  subscribe(projectId: string, listener: EventListener): Promise<Unsubscribe>
  stats(): Promise<StageStats[]>
  /** The backlog of each stage, read in one round trip; all processes get the same figures. */
  backlogs(): Promise<StageBacklog[]>
  /**
   * Starts a worker: for each job it parses the payload, calls the handler, wakes the next stages, and replies to the job's
   * sender. Delivery is at least once: handlers must be idempotent.
   *
   * @throws RetryableError `SERVICE_UNAVAILABLE` if the server is down; once started, a worker waits for it
   */
  defineWorker<Name extends StageName>(options: WorkerOptions<Name>): Promise<WorkerHandle>
  /** Counts a call of a model's provider, for `modelCalls`. */
  noteCall(call: SummaryCall): void
  /** Calls of this process to each model, by provider and name. */
  readonly modelCalls: ReadonlyMap<string, ModelCalls>
  /** Requests the reports of the workers of all processes, and waits for them a moment: for a process that has just started. */
  requestReports(): Promise<void>
  /**
   * Removes waiting and delayed jobs of all stages, such as those that hold messages of a thread that is being erased. Active
   * jobs stay. Reads every waiting job; concurrent calls share one scan.
   *
   * @returns the number of jobs found; with `dryRun` they stay
   */
  removeJobs(isMeant: (job: WaitingJob) => boolean, options?: { dryRun?: boolean }): Promise<number>
  pause(stage: StageName): Promise<void>
  resume(stage: StageName): Promise<void>
  /**
   * Gives the space of finished jobs back to the disk, where few wait. For housekeeping: on Postgres it locks the table of jobs
   * for some milliseconds, on Redis there is nothing to do.
   *
   * @returns how many tables shrank
   */
  releaseSpace(): Promise<number>
  ping(): Promise<QueueFacts>
  /** Closes the workers of this process, sends buffered jobs and messages, and drops the connections, within a time limit. */
  close(options?: { timeoutMs?: number }): Promise<void>
  /** For tests: removes all data of the prefix, and closes. */
  destroy(): Promise<void>
}

export interface StageBacklog extends Backlog {
  readonly stage: StageName
}

/** A stage's queue, and the work of its workers in all processes from which this one has received reports. */
export interface StageStats extends QueueStats {
  readonly pool: PoolWork
}
