import type { AssembleJob, PartialSettings } from '@heddle/contracts'
import type { TextEmbedder } from '@heddle/core'
import { createExtractiveSummarizer, fixedSummarizer, type Summarizers } from '@heddle/models'
import { type Job, LargeJobError, type Outcome, type WorkSize } from '@heddle/queue'
import { type Clock, FirstTimes, Limiter, type Logger } from '@heddle/runtime'
import type { NewEvent, Store } from '@heddle/store'
import { buildRequested } from './handler.js'
import { BuildInputCache } from './memory/build-input-cache.js'
import { ContextMaker } from './memory/context-maker.js'
import { PreviousContextCache } from './memory/previous-contexts.js'
import { SelectionCache } from './memory/selection-cache.js'
import { TokenCounter } from './memory/token-counter.js'
import { saveSnapshot } from './snapshot/save-snapshot.js'

export interface AssemblerDeps {
  readonly store: Store
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn'>
  readonly settings: PartialSettings
  /** Ranks items by similarity to a request. Without it, contexts are built without selection, and the receipt says so. */
  readonly embedder?: TextEmbedder | null
  /** Summarizers for snapshots. Default: the extractive summarizer. */
  readonly summarizers?: Summarizers
  /**
   * Bytes of the cached inputs for the next contexts of busy threads. Default 12 MB: about 20 threads of 80 messages; inputs
   * of other threads are read again.
   */
  readonly cacheBytesMax?: number
  /** Folder of snapshot files. Default: no files, the rows contain the snapshots. */
  readonly snapshotsFolder?: string | null
}

export interface AssemblyOptions {
  /** Called with the events to publish when the job is done. */
  readonly publish: (event: NewEvent) => void
  /** Largest input of a context built in this process. Default: unlimited; with a limit, snapshots are too large as well. */
  readonly sizeMax?: WorkSize | undefined
  /** Time until its deadline that a requested context needs to be built, in milliseconds. Default 0. */
  readonly neededMs?: number | undefined
}

/** Runs jobs of the stage; see `assemble` and `saveSnapshot`. */
export type Assembler = (job: Job<AssembleJob>, options: AssemblyOptions) => Promise<Outcome>

const CACHE_BYTES_MAX = 12_000_000
/** The cached remains of a thread's last context are small compared with the input of the next one. */
const SHARE_OF_TAILS = 1 / 3

/** A snapshot covers all threads of its agent, and its size is known only after reading them. */
const SNAPSHOT_SIZE: WorkSize = { messages: Number.POSITIVE_INFINITY, tokens: Number.POSITIVE_INFINITY }

export function createAssembler(deps: AssemblerDeps): Assembler {
  const { cacheBytesMax = CACHE_BYTES_MAX } = deps
  const parts = {
    ...deps,
    counter: new TokenCounter(),
    tails: new PreviousContextCache(Math.floor(cacheBytesMax * SHARE_OF_TAILS)),
    warm: new BuildInputCache(Math.floor(cacheBytesMax * (1 - SHARE_OF_TAILS))),
    maker: new ContextMaker(),
    selections: new SelectionCache(),
    unknownModels: new FirstTimes(),
    summarizers: deps.summarizers ?? fixedSummarizer(createExtractiveSummarizer()),
    snapshotsFolder: deps.snapshotsFolder ?? null,
    snapshotLimiter: new Limiter({ atOnce: 1 }),
  }
  // Loading the tokenizer's table takes half as long as the rest of a first context, so it is loaded ahead.
  parts.counter.count('ready')
  return async ({ payload, ...job }, { publish, sizeMax, neededMs }) => {
    if ('snapshotId' in payload) {
      if (sizeMax !== undefined) throw new LargeJobError(SNAPSHOT_SIZE)
      const publishSaved = (_: string, subjectId: string) => publish({ topic: 'snapshot.saved', subjectId })
      return await saveSnapshot({ payload, ...job }, { ...parts, publishSaved })
    }
    const publishBuilt = (_: string, threadId: string, subjectId: string) =>
      publish({ topic: 'context.built', threadId, subjectId })
    return await buildRequested({ payload, ...job }, { ...parts, publishBuilt, sizeMax, neededMs })
  }
}
