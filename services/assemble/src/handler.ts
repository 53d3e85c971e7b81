import { type ContextJob, HeddleError, type PartialSettings, type Settings } from '@heddle/contracts'
import { assumedWindow, type TextEmbedder } from '@heddle/core'
import { done, type Job, type Outcome, skipped, type WorkSize } from '@heddle/queue'
import { type Clock, type FirstTimes, type Logger, traced } from '@heddle/runtime'
import type { Store } from '@heddle/store'
import { chooseItems } from './enrich/choose-items.js'
import { recallMemories } from './enrich/recall-memories.js'
import { type LoadedInput, loadRequested, presumeUnchanged } from './load/load-requested.js'
import type { BuildInputCache } from './memory/build-input-cache.js'
import type { ContextMaker } from './memory/context-maker.js'
import type { PreviousContextCache } from './memory/previous-contexts.js'
import type { SelectionCache } from './memory/selection-cache.js'
import type { TokenCounter } from './memory/token-counter.js'
import { recordFailure } from './record-failure.js'
import { storeContext } from './store-context.js'

export interface AssembleDeps {
  readonly store: Store
  readonly clock: Clock
  readonly counter: TokenCounter
  readonly tails: PreviousContextCache
  readonly warm: BuildInputCache
  readonly maker: ContextMaker
  readonly selections: SelectionCache
  /** Models without a known window that were warned of. */
  readonly unknownModels: Pick<FirstTimes, 'isFirst'>
  /** Settings of the file and the environment, under those of agents. */
  readonly settings: PartialSettings
  /** Ranks items by similarity to a request; null if it could not be loaded. */
  readonly embedder?: TextEmbedder | null
  /** How long choosing items may take, in milliseconds. Default 10,000. */
  readonly selectionTimeoutMs?: number
  readonly log: Pick<Logger, 'warn'>
  /** Publishes that a context is ready. Not awaited: the requester's reply comes first. */
  readonly publishBuilt: (projectId: string, threadId: string, contextId: string) => void
  /** Largest input of a context built in this process. Default: unlimited. */
  readonly sizeMax?: WorkSize | undefined
  /** Time until its deadline that a request needs to be built, in milliseconds. Default 0. */
  readonly neededMs?: number | undefined
}

/**
 * Builds a requested context and stores it with its receipt. If it fails for good, the row gets the reason; a request that
 * was answered already stays unchanged.
 *
 * @throws HeddleError the reason, which also goes to the requester
 * @throws LargeJobError if the input of the context is larger than `sizeMax`
 */
export async function assemble(job: Job<ContextJob>, deps: AssembleDeps): Promise<Outcome> {
  return await recordFailure(job, deps, (one) => buildRequested(one, deps))
}

function warnOfWindow({ log, unknownModels }: AssembleDeps, settings: Settings): void {
  const window = assumedWindow(settings)
  if (window !== null && unknownModels.isFirst(window.model))
    log.warn(window, 'the window of this model is not known: unknownModelWindow is assumed, see HEDDLE_MODELS_FILE')
}

/** The same, but the caller records the reason of a failure. */
export async function buildRequested(job: Job<ContextJob>, deps: AssembleDeps): Promise<Outcome> {
  const { projectId } = job.payload
  const repeated = await buildUnchanged(job, deps)
  if (repeated !== null) return repeated
  // One transaction for all reads, because each transaction costs a round trip, and because messages that arrive between
  // reading and counting would be accounted for wrongly.
  const loaded = await traced('load messages', {}, () =>
    deps.store.inProject(projectId, (tx) => loadRequested(tx, job.payload, deps), { snapshot: true }),
  )
  if ('reason' in loaded) return skipped(loaded.reason)
  return (await buildFrom(loaded, job, deps)) ?? skipped('another worker has finished it')
}

/** @returns null if the thread must be read: it has changed, or the error may be one that a change has removed */
async function buildUnchanged(job: Job<ContextJob>, deps: AssembleDeps): Promise<Outcome | null> {
  if (job.attempt > 1) return null
  try {
    const presumed = presumeUnchanged(job.payload, deps)
    return presumed && (await buildFrom(presumed, job, deps))
  } catch (error) {
    if (error instanceof HeddleError && error.code !== 'SERVICE_UNAVAILABLE') return null
    throw error
  }
}

/** @returns null if the context was built or failed before, or its presumed input is not current */
async function buildFrom(loaded: LoadedInput, job: Job<ContextJob>, deps: AssembleDeps): Promise<Outcome | null> {
  const { projectId, contextId } = job.payload
  const { deadlineAtMs } = loaded
  warnOfWindow(deps, loaded.input.settings)
  const items =
    loaded.items && (await chooseItems(deps, projectId, { ...loaded.items, input: loaded.input, deadlineAtMs }))
  const input = items === null ? loaded.input : { ...loaded.input, items }
  const bare = deps.maker.make(input)
  const { threadId, thread } = loaded
  const memories = await recallMemories(deps, { projectId, threadId, thread, input, built: bare.built, deadlineAtMs })
  const made = memories === null ? bare : deps.maker.make({ ...input, memories })
  // An embedder that could not be loaded has no dimensions and was not used, so the receipt does not name it.
  const embedder = deps.embedder?.dimensions ? { embedder: deps.embedder.model } : {}
  const receipt = { ...made.built.receipt, ...embedder }
  const { tokensUsed, messages } = made.built
  const { isStored, answer } = await traced(
    'store context',
    { attributes: { 'heddle.context.tokens': tokensUsed, 'heddle.context.messages': messages.length } },
    () => storeContext({ id: contextId, ...made.built, receipt }, made, loaded, job, deps),
  )
  if (!isStored) return null
  deps.publishBuilt(projectId, loaded.threadId, contextId)
  const isNewLane = loaded.askedLane !== null && loaded.laneRecord?.askedAtMs === null
  const wakesPrune = loaded.awaitsPruning || isNewLane
  return done(wakesPrune ? [{ wake: 'prune', projectId, threadId: loaded.threadId }] : [], answer)
}
