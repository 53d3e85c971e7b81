import { randomUUID } from 'node:crypto'
import {
  type HeddleEvent,
  type ModelCalls,
  type PoolWork,
  queueName,
  type Reply,
  type StageName,
  type StagePayload,
  type SummaryCall,
  stageNames,
  validationError,
  type WakeJob,
  type WakeStageName,
  wakeStageNames,
} from '@heddle/contracts'
import { type Clock, type Logger, systemClock } from '@heddle/runtime'
import { FairShare } from './admission/fair-share.js'
import { type AskedShare, type NewShare, sentJob } from './admission/load-report.js'
import { type NewWork, QueueCapacity } from './admission/queue-capacity.js'
import type { Backend, QueueFacts } from './base/backend.js'
import { bounds } from './base/bounds.js'
import type { QueueConnections } from './base/connections.js'
import { namedError, unavailable } from './base/errors.js'
import { openBackend, warnOfSettings } from './base/open-backend.js'
import { createTroubleLog, type TroubleLog } from './base/trouble-log.js'
import { noWorkers, unknownPrefix } from './base/unknown-prefix.js'
import { inTime, settles } from './base/waiting.js'
import { Inbox } from './reply/inbox.js'
import { MessageBatcher } from './reply/message-batcher.js'
import type { ExpectedReply, ReplyExpectation } from './reply/reply-waiter.js'
import { type EventListener, Subscriptions, type Unsubscribe } from './reply/subscriptions.js'
import { answerBytes, encodeReply, loadChannel, poolChannel, replyChannel, withAnswer } from './reply/wire-format.js'
import { JobRemovals, type WaitingJob } from './send/job-removal.js'
import { type QueueStats, StageQueue } from './send/stage-queue.js'
import type { Answer } from './worker/outcome.js'
import { Pools } from './worker/worker-stats.js'

export interface QueuesOptions {
  backend: { kind: 'redis'; url: string } | { kind: 'postgres'; url: string }
  /** Keeps installations apart on one server: 1 to 40 of a-z, 0-9, _ and -, starting with a letter. */
  prefix: string
  log: Logger
  clock?: Clock
  /** What may wait for ingest before producers are refused; null is the default of `bounds`. */
  ingestLimits?: { jobsMax: number | null; bytesMax: number | null }
  /**
   * Whether a prefix that no worker has ever served is made: for workers, and for who runs them. Default false: who only
   * sends is told that nobody would do its jobs.
   */
  create?: boolean
  /** What this process opens to Postgres at most. Redis has few connections anyway. */
  connections?: QueueConnections
}

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

/** What `defineWorker` needs besides. */
export interface QueuesInternals {
  backend: Backend
  prefix: string
  clock: Clock
  /** Workers to close before the connections. */
  workers: Set<{ close(options?: { timeoutMs?: number }): Promise<void> }>
  pools: Pools
  trouble: TroubleLog
}

/** A stage's queue, and what its workers do in all processes together, as far as this one has heard of them. */
export interface StageStats extends QueueStats {
  readonly pool: PoolWork
}

const internals = new WeakMap<Queues, QueuesInternals>()

export function internalsOf(queues: Queues): QueuesInternals {
  const found = internals.get(queues)
  if (found === undefined) throw new TypeError('these queues were not opened by openQueues')
  return found
}

/**
 * Connects to the server of the queues, and with `create` makes what it lacks. Any number of processes may do so at once.
 *
 * @throws PermanentError `NOT_FOUND` of the field `prefix` where no worker was ever seen under it
 * @throws RetryableError `SERVICE_UNAVAILABLE` if the server is away; PermanentError `UNAUTHORIZED`, `FORBIDDEN` or
 *   `NOT_FOUND` if it refuses
 */
export async function openQueues(options: QueuesOptions): Promise<Queues> {
  const { prefix, log, clock = systemClock, create = false } = options
  if (!/^[a-z][a-z0-9_-]{0,39}$/.test(prefix)) {
    throw validationError('prefix', 'must be 1 to 40 of a-z, 0-9, _ and -, starting with a letter', prefix)
  }
  const state = { closed: false }
  const server = options.backend.kind === 'redis' ? 'Redis' : 'Postgres'
  const trouble = createTroubleLog({ log, clock, server, probe: () => bounded(backend.probe()) })
  const onError = (error: unknown) => {
    if (!state.closed) trouble.report(error, 'connection to the queues in trouble')
  }
  const backend = await openBackend({ ...options, clock, create, onError }).catch((error: unknown) => {
    trouble.close()
    throw error
  })

  const letters = new MessageBatcher((channel, text) => bounded(backend.channels.send(channel, text)))
  const name = randomUUID().replaceAll('-', '').slice(0, 16)
  const pools = new Pools({ name, clock, tell: (text) => backend.channels.send(poolChannel(prefix), text) })
  if (!create) await assertKnown(backend, prefix, { pools, clock })
  const load = new FairShare({
    name,
    clock,
    tell: (text) => backend.channels.send(loadChannel(prefix), text),
    workersOf: (stage) => pools.workersOf(stage),
  })
  const inbox = new Inbox(clock, {
    onEnd: (requestId) => load.ended(requestId),
    // Workers tell of themselves now and then: who waits for a moment only may not have heard them yet.
    late: (deadlineMs) =>
      deadlineMs < bounds.loadKnownMs || stageNames.some((stage) => pools.workersOf(stage) > 0)
        ? null
        : noWorkers(prefix),
  })
  const queues = new Map(stageNames.map((stage) => [stage, new StageQueue(stage, backend, prefix, onError)]))
  const capacity = new QueueCapacity({
    stage: 'ingest',
    limits: {
      jobsMax: options.ingestLimits?.jobsMax ?? bounds.ingestJobsMax,
      bytesMax: options.ingestLimits?.bytesMax ?? bounds.ingestBytesMax,
    },
    clock,
    readDepth: (jobsMax) => bounded(backend.depth(queueName('ingest'), jobsMax)),
  })
  const subscriptions = new Subscriptions(backend.channels, letters, prefix, log)
  const removals = new JobRemovals(async (removers) => {
    for (const queue of queues.values()) await queue.removeJobs({ removers, bounded })
  })
  const workers: QueuesInternals['workers'] = new Set()

  /** Puts a bound and a name on what a driver does. */
  async function bounded<T>(work: Promise<T>): Promise<T> {
    try {
      return await inTime(work, bounds.producerWaitMs, () => unavailable(backend.server))
    } catch (error) {
      throw namedError(error, backend.server)
    }
  }

  function queueOf<Name extends StageName>(stage: Name): StageQueue<Name> {
    return queues.get(stage) as unknown as StageQueue<Name>
  }

  async function add<Name extends StageName>(stage: Name, payload: StagePayload<Name>, bytes = 0): Promise<void> {
    const job = sentJob(name, stage, payload, bytes)
    // Who waits has taken a place already.
    if (job !== null && !inbox.expects(job.id)) load.began(job)
    try {
      await bounded(queueOf(stage).add(payload))
    } catch (error) {
      if (job !== null) load.ended(job.id)
      throw error
    }
  }

  function answerBytesMax(target: string): number {
    return target === name ? bounds.answerBytesMax : backend.channels.answerBytesMax
  }

  async function close({ timeoutMs = bounds.closeMs }: { timeoutMs?: number } = {}): Promise<void> {
    if (state.closed) return
    await Promise.all([...workers].map((worker) => worker.close({ timeoutMs })))
    inbox.close()
    load.close()
    pools.close()
    await settles(Promise.all([letters, ...queues.values()].map((each) => each.whenIdle())), 1_000)
    state.closed = true
    trouble.close()
    await settles(Promise.all([...queues.values()].map((queue) => queue.close())), 1_000)
    await settles(backend.close(), 2_000)
  }

  const opened: Queues = {
    inbox: name,
    add,
    addMany: async (stage, payloads) => void (await Promise.all(payloads.map((payload) => add(stage, payload)))),
    admit: (work) => capacity.admit(work),
    acquireShare: (share) => load.take(share),
    checkShare: (share) => load.check(share),
    wake: (stage, thread) => bounded(queueOf(stage).wake(thread)),
    wakeMany: async (stage, threads) => {
      const queue = queueOf(stage)
      await bounded(Promise.all(threads.map((thread) => queue.wake(thread))))
    },
    async rewake(wakes) {
      const rewakeStage = (stage: WakeStageName) => {
        const jobs = wakes.filter((wake) => wake.stage === stage)
        return jobs.length === 0 ? 0 : queueOf(stage).rewake(jobs)
      }
      const woken = await bounded(Promise.all(wakeStageNames.map(rewakeStage)))
      return woken.reduce((sum, count) => sum + count, 0)
    },
    async reply(target, reply, answer) {
      const brought = answer !== undefined && answerBytes(answer) <= answerBytesMax(target) ? answer : undefined
      // In one process the way over the server can be spared.
      if (target === name) inbox.deliver(withAnswer(reply, brought))
      else await letters.send(replyChannel(prefix, target), encodeReply(reply, brought))
    },
    answerBytesMax,
    expectReply: (expectation) => inbox.expect(expectation),
    publish: (event) => subscriptions.publish(event),
    subscribe: (projectId, listener) => bounded(subscriptions.subscribe(projectId, listener)),
    stats: () => {
      const nowMs = clock.nowMs()
      const statsOf = async (queue: StageQueue) => ({
        ...(await queue.stats(nowMs)),
        pool: pools.workOf(queue.stage),
      })
      return bounded(Promise.all([...queues.values()].map(statsOf)))
    },
    noteCall: (call) => pools.called(call),
    get modelCalls() {
      return pools.ownCalls
    },
    async hearWorkers() {
      await bounded(pools.ask())
      await clock.wait(bounds.poolAnswerMs)
    },
    removeJobs: (isMeant, { dryRun = false } = {}) => removals.remove(isMeant, dryRun),
    pause: (stage) => bounded(queueOf(stage).pause()),
    resume: (stage) => bounded(queueOf(stage).resume()),
    ping: () => bounded(backend.facts()),
    close,
    async destroy() {
      await Promise.all([...workers].map((worker) => worker.close({ timeoutMs: bounds.abortGraceMs })))
      await backend.destroy()
      await close({ timeoutMs: 0 })
    },
  }
  if (create) await warnOfSettings(bounded(backend.facts()), log).catch(onError)
  internals.set(opened, { backend, prefix, clock, workers, pools, trouble })

  try {
    await bounded(backend.channels.listen(replyChannel(prefix, name), (text) => inbox.receive(text)))
    await bounded(backend.channels.listen(loadChannel(prefix), (text) => load.receive(text)))
    await bounded(backend.channels.listen(poolChannel(prefix), (text) => pools.receive(text)))
    await bounded(Promise.all([...queues.values()].map((queue) => queue.whenReady())))
  } catch (error) {
    await close({ timeoutMs: 0 })
    throw error
  }
  return opened
}

/**
 * Looks whether anybody serves a prefix, before anything is made under it. Workers of an earlier version left no mark; they
 * answer when they are asked what they do.
 */
async function assertKnown(
  backend: Backend,
  prefix: string,
  { pools, clock }: { pools: Pools; clock: Clock },
): Promise<void> {
  try {
    if (await backend.isKnown()) return
    await backend.channels.listen(poolChannel(prefix), (text) => pools.receive(text))
    await pools.ask()
    await clock.wait(bounds.poolAnswerMs)
    if (stageNames.some((stage) => pools.workersOf(stage) > 0)) return
    throw unknownPrefix(prefix, backend.server, await backend.otherPrefixes())
  } catch (error) {
    pools.close()
    await settles(backend.close(), 2_000)
    throw namedError(error, backend.server)
  }
}
