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
import type { AskedShare, NewShare } from './admission/load-report.js'
import type { NewWork } from './admission/queue-capacity.js'
import type { QueueFacts } from './base/backend.js'
import type { ExpectedReply, ReplyExpectation } from './reply/reply-waiter.js'
import type { EventListener, Unsubscribe } from './reply/subscriptions.js'
import type { WaitingJob } from './send/job-removal.js'
import type { QueueStats } from './send/stage-queue.js'
import type { WorkerHandle } from './worker/define.js'
import type { WorkerOptions } from './worker/job.js'
import type { Answer } from './worker/outcome.js'

/** A thread that a stage has to look at. */
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
  /** Adds a job; `bytes` as room was asked for it. Jobs that are added within one tick travel together. For a wake stage it is the same as `wake`. */
  add<Name extends StageName>(stage: Name, payload: StagePayload<Name>, bytes?: number): Promise<void>
  addMany<Name extends StageName>(stage: Name, payloads: readonly StagePayload<Name>[]): Promise<void>
  /**
   * Asks for room in the queue of ingest; to be called before adding. Costs no round trip most of the time.
   *
   * @throws RetryableError `RATE_LIMITED` with `retryAfter` while the queue holds as much as it may
   */
  admit(work: NewWork): Promise<void>
  /**
   * Takes a place in a project's share of what is under way, in all processes together; to be called before anything else
   * is done. Only while other projects have something under way is there a limit to it.
   *
   * @returns gives the place back; to be called once what it was for has ended
   * @throws RetryableError `RATE_LIMITED` with `retryAfter` while the project has its share
   */
  acquireShare(share: NewShare): () => void
  /**
   * Looks whether a project has room in its share, for whoever is about to read what is to be sent.
   *
   * @throws RetryableError as {@link acquireShare}
   */
  checkShare(share: AskedShare): void
  /** Wakes a stage for a thread; at most one job of a thread is active and one waits. */
  wake(stage: WakeStageName, thread: WakeJob): Promise<void>
  wakeMany(stage: WakeStageName, threads: readonly WakeJob[]): Promise<void>
  /**
   * Like `wake`, but first removes what lost jobs may have left in the way. For the reconciler.
   *
   * @returns how many were woken; for the others a job waits already
   */
  rewake(wakes: readonly StageWake[]): Promise<number>
  /**
   * Tells the sender of a job that its answer stands in the store, or what went wrong. May be lost.
   *
   * @param answer goes along where it is small enough for the way
   */
  reply(inbox: string, reply: Reply, answer?: Answer): Promise<void>
  /** The largest answer that goes along with a reply, in bytes as it is written into it; 0 where none does. */
  answerBytesMax(inbox: string): number
  /** Registers for a reply; call it before enqueuing the job. */
  expectReply<T>(expectation: ReplyExpectation<T>): ExpectedReply<T>
  /** Tells whoever listens now. May be lost: subscribers resume from the store by the event's number. */
  publish(event: HeddleEvent): Promise<void>
  subscribe(projectId: string, listener: EventListener): Promise<Unsubscribe>
  stats(): Promise<StageStats[]>
  /**
   * Starts a worker: for each job it parses the payload, calls the handler, wakes the next stages, and replies to the job's
   * sender. Delivery is at least once: a handler must bear replays.
   *
   * @throws RetryableError `SERVICE_UNAVAILABLE` if the server is away; once started, a worker waits for it
   */
  defineWorker<Name extends StageName>(options: WorkerOptions<Name>): Promise<WorkerHandle>
  /** Counts a call of a model's provider, which all processes are told of. */
  noteCall(call: SummaryCall): void
  /** What this process has asked of each model, by provider and name. */
  readonly modelCalls: ReadonlyMap<string, ModelCalls>
  /** Asks the workers of all processes what they do, and waits a moment for what they say: for who has just come. */
  hearWorkers(): Promise<void>
  /**
   * Removes waiting and delayed jobs of all stages, such as those that hold messages of a thread that is being erased. What
   * a worker is working on stays. Looks at every waiting job, once for all who ask meanwhile.
   *
   * @returns how many it found; with `dryRun` they stay
   */
  removeJobs(isMeant: (job: WaitingJob) => boolean, options?: { dryRun?: boolean }): Promise<number>
  pause(stage: StageName): Promise<void>
  resume(stage: StageName): Promise<void>
  ping(): Promise<QueueFacts>
  /** Closes the workers of this process, sends what is under way, and drops the connections. Bounded. */
  close(options?: { timeoutMs?: number }): Promise<void>
  /** For tests: removes everything that was kept under the prefix, and closes. */
  destroy(): Promise<void>
}

/** A stage's queue, and what its workers do in all processes together, as far as this one has heard of them. */
export interface StageStats extends QueueStats {
  readonly pool: PoolWork
}
