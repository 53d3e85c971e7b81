import {
  type HeddleEvent,
  type ModelCalls,
  queueName,
  type Reply,
  type StageName,
  type StagePayload,
  type SummaryCall,
  stageNames,
  type WakeJob,
  type WakeStageName,
  wakeStageNames,
} from '@heddle/contracts'
import type { Clock, Logger } from '@heddle/runtime'
import { FairShare } from './admission/fair-share.js'
import { type NewShare, type ShareRequest, sentJob } from './admission/load-report.js'
import { type NewWork, QueueCapacity } from './admission/queue-capacity.js'
import type { Backend, QueueFacts } from './base/backend.js'
import { bounds } from './base/bounds.js'
import type { TroubleLog } from './base/trouble-log.js'
import { noWorkers } from './base/unknown-prefix.js'
import { bounded, settles } from './base/waiting.js'
import type { Queues, StageBacklog, StageStats, StageWake } from './queues.js'
import { Inbox } from './reply/inbox.js'
import { MessageBatcher } from './reply/message-batcher.js'
import type { ExpectedReply, ReplyExpectation } from './reply/reply-waiter.js'
import { type EventListener, Subscriptions, type Unsubscribe } from './reply/subscriptions.js'
import { encodeReply, isAnswerWithin, loadChannel, poolChannel, replyChannel, withAnswer } from './reply/wire-format.js'
import { JobRemovals, type WaitingJob } from './send/job-removal.js'
import { StageQueue } from './send/stage-queue.js'
import type { TracedWake } from './send/wakes.js'
import { startWorker, type WorkerHandle } from './worker/define.js'
import type { WorkerOptions } from './worker/job.js'
import type { Answer } from './worker/outcome.js'
import type { Pools } from './worker/worker-stats.js'

export interface ServerQueuesOptions {
  /** The name of this process and of its inbox. */
  readonly name: string
  readonly prefix: string
  readonly backend: Backend
  readonly pools: Pools
  readonly trouble: TroubleLog
  readonly onError: (error: unknown) => void
  readonly clock: Clock
  readonly log: Logger
  readonly ingestLimits: { jobsMax: number | null; bytesMax: number | null } | undefined
}

/** The queues of a process on an opened server. */
export class ServerQueues implements Queues {
  readonly inbox: string
  readonly #options: ServerQueuesOptions
  readonly #queues: ReadonlyMap<StageName, StageQueue>
  readonly #messages: MessageBatcher
  readonly #load: FairShare
  readonly #inbox: Inbox
  readonly #capacity: QueueCapacity
  readonly #subscriptions: Subscriptions
  readonly #removals: JobRemovals
  readonly #workers = new Set<WorkerHandle>()
  #isClosed = false

  constructor(options: ServerQueuesOptions) {
    const { name, prefix, backend, pools, onError, clock, log, ingestLimits } = options
    this.inbox = name
    this.#options = options
    this.#queues = new Map(stageNames.map((stage) => [stage, new StageQueue(stage, backend, prefix, onError)]))
    this.#messages = new MessageBatcher((channel, text) => this.#bounded(backend.channels.send(channel, text)))
    this.#load = new FairShare({
      name,
      clock,
      publish: (text) => backend.channels.send(loadChannel(prefix), text),
      workersOf: (stage) => pools.workersOf(stage),
    })
    this.#inbox = new Inbox(clock, {
      onEnd: (requestId) => this.#load.ended(requestId),
      // Workers report every second: a process with a short deadline may not have received a report yet.
      late: (deadlineMs) =>
        deadlineMs < bounds.loadKnownMs || stageNames.some((stage) => pools.workersOf(stage) > 0)
          ? null
          : noWorkers(prefix),
    })
    this.#capacity = new QueueCapacity({
      stage: 'ingest',
      limits: {
        jobsMax: ingestLimits?.jobsMax ?? bounds.ingestJobsMax,
        bytesMax: ingestLimits?.bytesMax ?? bounds.ingestBytesMax,
      },
      clock,
      readDepth: (jobsMax) => this.#bounded(backend.depth(queueName('ingest'), jobsMax)),
    })
    this.#subscriptions = new Subscriptions(backend.channels, this.#messages, prefix, log)
    this.#removals = new JobRemovals(async (removers) => {
      for (const queue of this.#queues.values())
        await queue.removeJobs({ removers, bounded: (work) => this.#bounded(work) })
    })
  }

  /** Listens for replies and for the reports of other processes. To be called once, before any use. */
  async listen(): Promise<void> {
    const { name, prefix, backend, pools } = this.#options
    const { channels } = backend
    await this.#bounded(channels.listen(replyChannel(prefix, name), (text) => this.#inbox.receive(text)))
    await this.#bounded(channels.listen(loadChannel(prefix), (text) => this.#load.receive(text)))
    await this.#bounded(channels.listen(poolChannel(prefix), (text) => pools.receive(text)))
    await this.#bounded(Promise.all([...this.#queues.values()].map((queue) => queue.whenReady())))
  }

  add<Name extends StageName>(stage: Name, payload: StagePayload<Name>, bytes = 0): Promise<void> {
    const job = sentJob(this.inbox, stage, payload, bytes)
    const adding = this.#queueOf(stage).add(payload)
    // A caller that expects a reply has acquired its share already.
    if (job === null || this.#inbox.expects(job.id)) return adding
    this.#load.started(job)
    return adding.catch((error: unknown) => {
      this.#load.ended(job.id)
      throw error
    })
  }

  async addMany<Name extends StageName>(stage: Name, payloads: readonly StagePayload<Name>[]): Promise<void> {
    await Promise.all(payloads.map((payload) => this.add(stage, payload)))
  }

  admit(work: NewWork): Promise<void> {
    return this.#capacity.admit(work)
  }

  acquireShare(share: NewShare): () => void {
    return this.#load.acquire(share)
  }

  checkShare(share: ShareRequest): void {
    this.#load.check(share)
  }

  wake(stage: WakeStageName, thread: WakeJob, carrier?: string): Promise<void> {
    return this.#queueOf(stage).wake(thread, carrier)
  }

  async wakeMany(stage: WakeStageName, threads: readonly TracedWake[]): Promise<void> {
    await Promise.all(threads.map((thread) => this.#queueOf(stage).wake(thread, thread.carrier)))
  }

  async rewake(wakes: readonly StageWake[]): Promise<number> {
    const rewakeStage = (stage: WakeStageName) => {
      const jobs = wakes.filter((wake) => wake.stage === stage)
      return jobs.length === 0 ? 0 : this.#queueOf(stage).rewake(jobs)
    }
    const woken = await this.#bounded(Promise.all(wakeStageNames.map(rewakeStage)))
    return woken.reduce((sum, count) => sum + count, 0)
  }

  async reply(target: string, reply: Reply, answer?: Answer): Promise<void> {
    const brought = answer !== undefined && isAnswerWithin(answer, this.answerBytesMax(target)) ? answer : undefined
    // Within one process the reply need not pass through the server.
    if (target === this.inbox) this.#inbox.deliver(withAnswer(reply, brought))
    else await this.#messages.send(replyChannel(this.#options.prefix, target), encodeReply(reply, brought))
  }

  answerBytesMax(target: string): number {
    return target === this.inbox ? bounds.answerWithinProcessBytesMax : this.#options.backend.channels.answerBytesMax
  }

  expectReply<T>(expectation: ReplyExpectation<T>): ExpectedReply<T> {
    return this.#inbox.expect(expectation)
  }

  publish(event: HeddleEvent): Promise<void> {
    return this.#subscriptions.publish(event)
  }

  subscribe(projectId: string, listener: EventListener): Promise<Unsubscribe> {
    return this.#bounded(this.#subscriptions.subscribe(projectId, listener))
  }

  stats(): Promise<StageStats[]> {
    return this.#bounded(this.#readStats())
  }

  async #readStats(): Promise<StageStats[]> {
    const { pools } = this.#options
    const backlogs = await this.#readBacklogs()
    const statsOf = async ({ stage, ...backlog }: StageBacklog) => ({
      ...(await this.#queueOf(stage).stats(backlog)),
      pool: pools.workOf(stage),
    })
    return await Promise.all(backlogs.map(statsOf))
  }

  backlogs(): Promise<StageBacklog[]> {
    return this.#bounded(this.#readBacklogs())
  }

  async #readBacklogs(): Promise<StageBacklog[]> {
    const backlogs = await this.#options.backend.backlogs(stageNames.map(queueName))
    return stageNames.flatMap((stage, at) => {
      const backlog = backlogs[at]
      return backlog === undefined ? [] : [{ stage, ...backlog }]
    })
  }

  defineWorker<Name extends StageName>(options: WorkerOptions<Name>): Promise<WorkerHandle> {
    return startWorker(options, { ...this.#options, queues: this, workers: this.#workers })
  }

  noteCall(call: SummaryCall): void {
    this.#options.pools.called(call)
  }

  get modelCalls(): ReadonlyMap<string, ModelCalls> {
    return this.#options.pools.ownCalls
  }

  async requestReports(): Promise<void> {
    const { pools, clock } = this.#options
    await this.#bounded(pools.requestReports())
    await clock.wait(bounds.poolAnswerMs)
  }

  removeJobs(isMeant: (job: WaitingJob) => boolean, { dryRun = false }: { dryRun?: boolean } = {}): Promise<number> {
    return this.#removals.remove(isMeant, dryRun)
  }

  pause(stage: StageName): Promise<void> {
    return this.#bounded(this.#queueOf(stage).pause())
  }

  resume(stage: StageName): Promise<void> {
    return this.#bounded(this.#queueOf(stage).resume())
  }

  releaseSpace(): Promise<number> {
    return this.#bounded(this.#options.backend.releaseSpace())
  }

  ping(): Promise<QueueFacts> {
    return this.#bounded(this.#options.backend.facts())
  }

  async close({ timeoutMs = bounds.closeMs }: { timeoutMs?: number } = {}): Promise<void> {
    if (this.#isClosed) return
    const { backend, pools, trouble } = this.#options
    const queues = [...this.#queues.values()]
    await this.#closeWorkers(timeoutMs)
    this.#inbox.close()
    this.#load.close()
    pools.close()
    await settles(Promise.all([this.#messages, ...queues].map((each) => each.whenIdle())), 1_000)
    this.#isClosed = true
    trouble.close()
    await settles(Promise.all(queues.map((queue) => queue.close())), 1_000)
    await settles(backend.close(), 2_000)
  }

  async destroy(): Promise<void> {
    await this.#closeWorkers(bounds.abortGraceMs)
    await this.#options.backend.destroy()
    await this.close({ timeoutMs: 0 })
  }

  async #closeWorkers(timeoutMs: number): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.close({ timeoutMs })))
  }

  #bounded<T>(work: Promise<T>): Promise<T> {
    return bounded(work, this.#options.backend.server)
  }

  #queueOf<Name extends StageName>(stage: Name): StageQueue<Name> {
    return this.#queues.get(stage) as unknown as StageQueue<Name>
  }
}
