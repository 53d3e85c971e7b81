import { type AssembleJob, errorFromData, type PrunedCounts, type WakeJob } from '@heddle/contracts'
import { loadedTokens, type TextEmbedder } from '@heddle/core'
import type { CarriedOut, Job, LargeJobs, Queues, WorkSize } from '@heddle/queue'
import { createWorkerCalls, type WorkerCalls } from '@heddle/runtime'
import type { NewEvent } from '@heddle/store'
import type { JobQuestion, JobRequest, JobResponse, JobThreadData } from './protocol.js'

type BackgroundStage = Exclude<JobRequest['stage'], 'assemble'>

/** Runs the large jobs of a process in threads. */
export interface JobThreads {
  readonly assemble: LargeJobs<AssembleJob, NewEvent>
  readonly prune: LargeJobs<WakeJob, NewEvent>
  readonly summarize: LargeJobs<WakeJob, NewEvent>
  readonly embed: LargeJobs<WakeJob, never>
  readonly remember: LargeJobs<WakeJob, never>
  /** Ends the threads within a time limit. */
  close(): Promise<void>
}

export interface JobThreadsOptions extends Omit<JobThreadData, 'embedder' | 'cacheBytesMax' | 'tokens'> {
  readonly embedder: TextEmbedder | null
  readonly queues: Pick<Queues, 'noteCall'>
  /** Called after compactions of the threads. */
  readonly onPruned?: ((counts: PrunedCounts) => void) | undefined
  /** The module of the threads. Default `thread.js` beside this module. */
  readonly url?: URL
}

/**
 * A context of this size takes up to some 20 ms to build without cached input, and blocks the event loop of the process for
 * that time.
 */
const SIZE_MAX: WorkSize = { messages: 150, tokens: 12_000 }
/** A larger context takes seconds to build the first time, so contexts up to this size have a thread of their own. */
const ORDINARY_MAX: WorkSize = { messages: 2_000, tokens: 200_000 }
/** A job that takes longer counts as hanging: its thread is stopped, and the job retried. In milliseconds. */
const CALL_MS_MAX = 600_000
const CLOSE_MS = 3_000
/** Cached input of contexts in each thread; that of the second holds a conversation of 10,000 messages. */
const ORDINARY_CACHE_BYTES_MAX = 15_000_000
const LONG_CACHE_BYTES_MAX = 30_000_000
/** Young generation of a thread's heap: the default is 48 MB, of which a job fills a few. */
const YOUNG_HEAP_MEGABYTES_MAX = 8

/**
 * Two threads, which start with their first job: one for contexts of ordinary size, for which a caller waits, and one for very
 * large contexts, snapshots and background work. When a thread dies, its jobs fail and are retried; the next job starts
 * another thread.
 */
export function createJobThreads(options: JobThreadsOptions): JobThreads {
  const { embedder, queues, config, onPruned } = options
  const answer = async (question: JobQuestion): Promise<unknown> => {
    if (question.kind === 'note-call') return queues.noteCall(question.call)
    if (question.kind === 'note-pruned') return onPruned?.(question.counts)
    return await embedder?.embed(question.texts)
  }
  const start = (subject: string, cacheBytesMax: number): WorkerCalls<JobRequest, JobResponse> => {
    const { place, databaseUrl, applicationName, summaryCallMsMax } = options
    const workerData = (): JobThreadData => ({
      config,
      place: { env: { ...place.env }, cwd: place.cwd },
      databaseUrl,
      applicationName,
      embedder: embedder && { model: embedder.model, dimensions: embedder.dimensions },
      summaryCallMsMax,
      tokens: loadedTokens(),
      cacheBytesMax,
    })
    return createWorkerCalls<JobRequest, JobResponse, JobQuestion>({
      url: options.url ?? new URL('./thread.js', import.meta.url),
      workerData,
      subject,
      callTimeoutMs: CALL_MS_MAX,
      closeTimeoutMs: CLOSE_MS,
      youngHeapMegabytesMax: YOUNG_HEAP_MEGABYTES_MAX,
      answer,
    })
  }
  const ordinary = start('the thread for contexts', ORDINARY_CACHE_BYTES_MAX)
  const long = start('the thread for long jobs', LONG_CACHE_BYTES_MAX)

  const carryOut = async (thread: typeof long, request: JobRequest, signal: AbortSignal) => {
    const response = await thread.call(request, signal)
    if ('error' in response) throw errorFromData(response.error)
    return response
  }
  const background = (stage: BackgroundStage) => ({
    sizeMax: SIZE_MAX,
    carryOut: ({ signal, ...job }: Job<WakeJob>) => carryOut(long, { stage, job }, signal),
  })
  const withoutEvents = (stage: BackgroundStage): LargeJobs<WakeJob, never> => ({
    sizeMax: SIZE_MAX,
    async carryOut(job) {
      const { outcome } = await background(stage).carryOut(job)
      return { outcome, events: [] }
    },
  })
  return {
    assemble: {
      sizeMax: SIZE_MAX,
      carryOut: ({ signal, ...job }, size): Promise<CarriedOut<NewEvent>> =>
        carryOut(isOrdinary(size) ? ordinary : long, { stage: 'assemble', job }, signal),
    },
    prune: background('prune'),
    summarize: background('summarize'),
    embed: withoutEvents('embed'),
    remember: withoutEvents('remember'),
    async close() {
      await Promise.all([ordinary.close(), long.close()])
    },
  }
}

function isOrdinary({ messages, tokens }: WorkSize): boolean {
  return messages <= ORDINARY_MAX.messages && tokens <= ORDINARY_MAX.tokens
}
