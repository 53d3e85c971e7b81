import { createAssembleWorker } from '@heddle/assemble'
import { type AssembleJob, mergeSettings, type PrunedCounts, type StageName } from '@heddle/contracts'
import { createEmbedWorker } from '@heddle/embed'
import { createIngestWorker } from '@heddle/ingest'
import {
  createEmbedders,
  createSummarizers,
  type Embedder,
  fixedSummarizer,
  type Summarizer,
  type Summarizers,
} from '@heddle/models'
import { createPruneWorker } from '@heddle/prune'
import { type DeadLetter, type Queues, type Settled, startReconciler, type WorkerHandle } from '@heddle/queue'
import { createRememberWorker } from '@heddle/remember'
import type { Clock, Config, Logger } from '@heddle/runtime'
import {
  acquireLease,
  findLaggingThreads,
  findPendingStates,
  findRequestedContexts,
  findRequestedSnapshots,
  findSnapshotsWithoutSummary,
  type Store,
  type ThreadWork,
} from '@heddle/store'
import { createSummarizeWorker } from '@heddle/summarize'
import { CloseStack } from './close-stack.js'
import { createJobThreads, type JobThreadsOptions } from './job-threads/job-threads.js'
import { snapshotsFolderOf } from './snapshots-folder.js'
import { DeadLetterBatcher, storeDeadLettersIn } from './upkeep/dead-letter-batcher.js'
import { startHousekeeping } from './upkeep/housekeeping.js'
import { createReembedding } from './upkeep/reembedding.js'
import { UnpublishedEvents } from './upkeep/unpublished-events.js'

export interface StagesOptions {
  readonly store: Store
  readonly queues: Queues
  readonly config: Config
  readonly log: Logger
  readonly clock: Clock
  readonly stages: readonly StageName[]
  readonly concurrency?: number
  /** Whether, and how often, this process also runs the reconciler. */
  readonly reconcile: boolean | ReconcileTiming
  /** Called after each attempt of a job in this process. */
  readonly onSettled?: (settled: Settled) => void
  /** Called after compactions in this process. */
  readonly onPruned?: ((counts: PrunedCounts) => void) | undefined
  /** The environment with the providers' keys. Default: empty, so that summaries are extractive. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Time limit of a call to a provider, in milliseconds, without retries. Default: a minute, with 3 attempts. */
  readonly summaryCallMsMax?: number
  /** Writes all summaries, instead of the configured one. */
  readonly summarizer?: Summarizer
  /** The summarizers to choose from, instead of those of `env`. */
  readonly summarizers?: Summarizers
  /** Used instead of the configured embedder; the caller closes it. */
  readonly embedder?: Embedder
  /**
   * Run large jobs in threads, so that they do not block the event loop of this process. Default: all jobs run on the event
   * loop.
   */
  readonly threads?: Pick<JobThreadsOptions, 'databaseUrl' | 'applicationName' | 'place'>
}

export interface ReconcileTiming {
  /** Time between two runs, in milliseconds, without the random part. */
  readonly everyMs: number
  /** Younger work is ignored, because its job is still in the queue. In milliseconds. */
  readonly patienceMs: number
}

export interface RunningStages {
  readonly models: { readonly summarizer: string | null; readonly embedder: string | null }
  /** Waits for active jobs, within a time limit; never rejects. */
  stop(): Promise<void>
}

const WORKER_CLOSE_MS = 8_000
/** A little more than the worker's own limit, in case its close hangs. */
const CLOSE_BOUND_MS = WORKER_CLOSE_MS + 2_000
const RECONCILE: ReconcileTiming = { everyMs: 15_000, patienceMs: 10_000 }
/** Housekeeping can run once a minute: retentions are days, and an interrupted erasure may wait a minute. */
const HOUSEKEEPING_FACTOR = 4
/** Most threads, contexts or snapshots that one run of the reconciler wakes; the next run finds the rest. */
const FOUND_MAX = 5_000

/** Starts the workers of some stages in this process, and the reconciler if requested. */
export async function startStages(options: StagesOptions): Promise<RunningStages> {
  const { store, queues, config, log, clock, stages, onPruned } = options
  const opened = new CloseStack(log)
  const wants = (stage: StageName) => stages.includes(stage)
  try {
    const embedders = createEmbedders(config.embedder, { env: options.env ?? {}, log, clock })
    opened.push('embedders', CLOSE_BOUND_MS, () => embedders.close())
    const given = options.embedder
    const chosen = wants('embed') || wants('assemble') ? (given ?? (await embedders.chosen()).embedder) : null
    const embedder = wants('embed') ? chosen : null
    const limits =
      options.summaryCallMsMax === undefined ? null : { callMsMax: options.summaryCallMsMax, attemptsMax: 1 }
    const summarizers = options.summarizer
      ? fixedSummarizer(options.summarizer)
      : (options.summarizers ??
        createSummarizers({
          env: options.env ?? {},
          clock,
          log,
          onCall: (call) => queues.noteCall(call),
          ...(limits && { limits }),
        }))
    const summarizer = wants('summarize') ? summarizers.of(mergeSettings(config.settings)) : null

    const threads =
      options.threads &&
      createJobThreads({
        ...options.threads,
        config,
        embedder: chosen,
        queues,
        onPruned,
        summaryCallMsMax: options.summaryCallMsMax ?? null,
      })
    if (threads !== undefined) opened.push('job threads', CLOSE_BOUND_MS, () => threads.close())
    const letters = new DeadLetterBatcher(storeDeadLettersIn(store, clock), clock)
    const deps = {
      store,
      queues,
      clock,
      log,
      settings: config.settings,
      recordDeadLetter: (letter: DeadLetter) => letters.add(letter),
      concurrency: options.concurrency,
    }
    const starting: Promise<WorkerHandle>[] = []
    if (wants('ingest')) starting.push(createIngestWorker(deps))
    if (wants('prune'))
      starting.push(createPruneWorker({ ...deps, onPruned, ...(threads && { large: threads.prune }) }))
    if (wants('summarize')) {
      starting.push(createSummarizeWorker({ ...deps, summarizers, ...(threads && { large: threads.summarize }) }))
    }
    if (embedder !== null)
      starting.push(createEmbedWorker({ ...deps, embedder, ...(threads && { large: threads.embed }) }))
    if (wants('remember'))
      starting.push(createRememberWorker({ ...deps, summarizers, ...(threads && { large: threads.remember }) }))
    if (wants('assemble')) {
      starting.push(
        createAssembleWorker({
          ...deps,
          embedder: chosen,
          summarizers,
          snapshotsFolder: snapshotsFolderOf(config),
          ...(threads && { large: threads.assemble }),
        }),
      )
    }
    const started = await Promise.allSettled(starting)
    const workers = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    opened.push('workers', CLOSE_BOUND_MS, () =>
      Promise.all(workers.map((worker) => worker.close({ timeoutMs: WORKER_CLOSE_MS }))),
    )
    const { onSettled } = options
    if (onSettled !== undefined) for (const worker of workers) worker.onSettled(onSettled)
    const failed = started.find((each) => each.status === 'rejected')
    if (failed !== undefined) throw failed.reason

    if (options.reconcile !== false) {
      const { everyMs, patienceMs } = options.reconcile === true ? RECONCILE : options.reconcile
      const reembedding = embedder === null ? null : createReembedding(store, embedder.model)
      // Only processes with an embedder find threads to embed again, so these processes share a lease of their own.
      const leaseName = `reconcile ${config.queuePrefix}${embedder === null ? '' : ` and embed with ${embedder.model}`}`
      const unpublished = new UnpublishedEvents({ store, queues, clock, patienceMs })
      const reconciler = startReconciler({
        queues,
        everyMs,
        acquireLease: (apartMs) => acquireLease(store, { name: leaseName, apartMs }),
        findWork: async () => {
          const nowMs = clock.nowMs()
          const found = await Promise.all([findWork(store, nowMs, patienceMs), reembedding?.(nowMs) ?? []])
          return found.flat()
        },
        publishMissed: () => unpublished.publish(),
        findRequests: () => findRequests(store, { limit: FOUND_MAX, requestedBeforeMs: clock.nowMs() - patienceMs }),
        log,
        clock,
      })
      opened.push('reconciler', CLOSE_BOUND_MS, () => reconciler.close())
      const housekeeping = startHousekeeping({
        store,
        queues,
        clock,
        log,
        retention: config.retention,
        snapshotsFolder: snapshotsFolderOf(config),
        everyMs: HOUSEKEEPING_FACTOR * everyMs,
        patienceMs: HOUSEKEEPING_FACTOR * patienceMs,
      })
      opened.push('housekeeping', CLOSE_BOUND_MS, () => housekeeping.close())
    }
    return {
      models: { summarizer: summarizer?.name ?? null, embedder: embedder?.model ?? null },
      stop: () => opened.close(),
    }
  } catch (error) {
    await opened.close()
    throw error
  }
}

async function findWork(store: Store, nowMs: number, patienceMs: number): Promise<ThreadWork[]> {
  const [lagging, pending] = await Promise.all([
    findLaggingThreads(store, { limit: FOUND_MAX, nowMs }),
    findPendingStates(store, { limit: FOUND_MAX, createdBeforeMs: nowMs - patienceMs, nowMs }),
  ])
  return [...lagging, ...pending]
}

async function findRequests(store: Store, query: { limit: number; requestedBeforeMs: number }): Promise<AssembleJob[]> {
  const found = await Promise.all([
    findRequestedContexts(store, query),
    findRequestedSnapshots(store, query),
    findSnapshotsWithoutSummary(store, query),
  ])
  return found.flat()
}
