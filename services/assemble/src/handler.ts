import type { ContextJob, ContextResult, PartialSettings, Settings } from '@heddle/contracts'
import {
  assumedWindow,
  isToBePrepared,
  type Message,
  preparedKey,
  requestKey,
  sharedPrefixTokens,
  type TextEmbedder,
} from '@heddle/core'
import { type Answer, done, type Job, type Outcome, refuseLargeJob, skipped, type WorkSize } from '@heddle/queue'
import { type Clock, type FirstTimes, type Logger, traced } from '@heddle/runtime'
import {
  type AskedContext,
  type Dependence,
  finishContext,
  loadContext,
  type Prepared,
  packLines,
  type Store,
  stopPreparing,
  type Tx,
} from '@heddle/store'
import { chooseItems } from './enrich/choose-items.js'
import { otherThreads } from './enrich/other-threads.js'
import { recallMemories } from './enrich/recall-memories.js'
import { type LoadedForBuild, loadBuildInput } from './load/load.js'
import { refuseExpired } from './load/refuse-expired.js'
import { type BuildInputCache, loadChanges, warmed } from './memory/build-input-cache.js'
import type { ContextMaker, MadeContext } from './memory/context-maker.js'
import type { PreviousContextCache } from './memory/previous-contexts.js'
import type { SelectionCache } from './memory/selection-cache.js'
import type { TokenCounter } from './memory/token-counter.js'
import { outgoing } from './outgoing.js'
import { recordFailure, requestOf } from './record-failure.js'

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
}

/**
 * Builds a requested context and stores it with its receipt. If it fails for good, the row gets the reason; a request that
 * was answered already stays unchanged.
 *
 * @throws HeddleError the reason, which also goes to the requester
 * @throws LargeJobError if the input of the context is larger than `sizeMax`
 */
export async function assemble(job: Job<ContextJob>, deps: AssembleDeps): Promise<Outcome> {
  return await recordFailure(job, deps, () => buildRequested(job, deps))
}

function warnOfWindow({ log, unknownModels }: AssembleDeps, settings: Settings): void {
  const window = assumedWindow(settings)
  if (window !== null && unknownModels.isFirst(window.model))
    log.warn(window, 'the window of this model is not known: unknownModelWindow is assumed, see HEDDLE_MODELS_FILE')
}

/** The same, but the caller records the reason of a failure. */
export async function buildRequested(job: Job<ContextJob>, deps: AssembleDeps): Promise<Outcome> {
  const { projectId, contextId } = job.payload
  // One transaction for all reads, because each transaction costs a round trip, and because messages that arrive between
  // reading and counting would be accounted for wrongly.
  const loaded = await traced('load messages', {}, () =>
    deps.store.inProject(projectId, (tx) => load(tx, job.payload, deps), { snapshot: true }),
  )
  if ('reason' in loaded) return skipped(loaded.reason)
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
  const answer = await traced(
    'store context',
    { attributes: { 'heddle.context.tokens': tokensUsed, 'heddle.context.messages': messages.length } },
    () => record({ id: contextId, ...made.built, receipt }, made, loaded, job, deps),
  )
  deps.publishBuilt(projectId, loaded.threadId, contextId)
  const isNewLane = loaded.askedLane !== null && loaded.laneRecord?.askedAtMs === null
  const wakesPrune = loaded.awaitsPruning || isNewLane
  return done(wakesPrune ? [{ wake: 'prune', projectId, threadId: loaded.threadId }] : [], answer)
}

/**
 * Stores the context: whole for its requester, and for later as the difference to the previous one.
 *
 * @returns the answer, if the requester accepts it in the reply
 */
async function record(
  built: ContextResult,
  made: MadeContext,
  { input, thread, threadId, scopeErased, asOfMs, prepared, isPrepared, asked, askedLane }: LoadedInput,
  { payload: { projectId, wantsAnswer }, answerBytesMax = 0 }: Job<ContextJob>,
  { store, tails, clock }: AssembleDeps,
): Promise<Answer | undefined> {
  const { request } = input
  const before = tails.find(threadId, request, clock.nowMs())
  const { parts } = made
  const result = before === null ? built : withSharedPrefix(built, sharedPrefixTokens(before.parts, parts))
  const others = otherThreads(projectId, result, input)
  const stored = packLines(result.id, made.linesOf(result, others.isAbout), before?.base ?? null)
  const mentions = others.threadIds
  // If later contexts are prepared although the request does not say so, only the row shows it.
  const isSeenByRow = prepared !== undefined && request.prebuild === undefined
  const { packed, answer } = await outgoing(made.jsonOf(result), {
    answerBytesMax: wantsAnswer === true && !isSeenByRow ? answerBytesMax : 0,
    isFoundAgain: prepared !== undefined,
  })
  // Settings or items have changed since the order, so the prepared context would answer no request.
  if (isPrepared && prepared === undefined)
    await store.inProject(projectId, (tx) => stopPreparing(tx, { id: result.id }))
  let isAnswer: boolean
  try {
    isAnswer = await store.inProject(
      projectId,
      (tx) => {
        const isFillChosen = request.fill === undefined
        const { erasedCount } = thread
        const { recalledIds, sharers } = others
        const kept = {
          packed,
          stored,
          asOfMs,
          prepared,
          mentions,
          sharers,
          asked,
          isFillChosen,
          erasedCount,
          scopeErased,
          recalledIds,
        }
        return finishContext(tx, { id: result.id, result, ...kept, askedLane: askedLane ?? undefined })
      },
      // With mentioned threads, the transaction first checks that they still exist, so the commit cannot be sent with it.
      { together: mentions.length === 0, arePlansKept: true },
    )
  } catch (error) {
    // The next attempt uses no base that may have been removed.
    tails.forget(threadId, request)
    throw error
  }
  // Another worker may have stored this context with other messages: later ones must not be based on lines that are not its own.
  if (isAnswer) tails.remember(threadId, request, { base: stored.asBase, parts }, clock.nowMs())
  else tails.forget(threadId, request)
  return isAnswer ? answer : undefined
}

function withSharedPrefix(result: ContextResult, tokens: number): ContextResult {
  return { ...result, receipt: { ...result.receipt, sharedPrefixTokens: tokens } }
}

interface LoadedInput extends LoadedForBuild {
  readonly threadId: string
  /** The point in time that the context shows. */
  readonly asOfMs: number
  readonly prepared?: Prepared
  /** Whether it was ordered ahead of a request. */
  readonly isPrepared: boolean
  readonly deadlineAtMs: number
  /** Set if the request has no row. */
  readonly asked?: AskedContext | undefined
}

type Loaded = LoadedInput | { readonly reason: string }

async function load(tx: Tx, { projectId, contextId, ...job }: ContextJob, deps: AssembleDeps): Promise<Loaded> {
  const { warm, clock } = deps
  // The version of the cached input is checked while the request is read; most contexts need no other read.
  const likely = warm.find(job.requestKey)
  const [row, likelyChanges] = await Promise.all([
    loadContext(tx, { id: contextId }),
    likely && loadChanges(tx, likely),
  ])
  const asked = row === null ? requestOf({ projectId, contextId, ...job }) : undefined
  const requested = row ?? asked
  if (requested === undefined) return { reason: 'the request is gone' }
  if (row !== null && row.status !== 'requested') return { reason: `already ${row.status}` }
  refuseExpired(requested, clock)
  const asOfMs = clock.nowMs()
  const { threadId, request, deadlineAtMs } = requested
  const key = requestKey(projectId, request)
  const kept = warm.find(key)
  const changes = kept === likely ? likelyChanges : kept && (await loadChanges(tx, kept))
  const build =
    (kept && changes && warmed(kept, changes, asOfMs)) ??
    (await loadBuildInput(tx, requested, { ...deps, projectId, asOfMs }))
  refuseLargeJob(sizeOf(build.input.messages), deps.sizeMax)
  warm.keep(key, build)
  const input = build.input.request.message === request.message ? build.input : { ...build.input, request }
  const prepared = isToBePrepared(request, build.input.settings) ? preparedKey(request, deps.settings) : null
  return {
    ...build,
    input,
    threadId,
    asOfMs,
    deadlineAtMs,
    isPrepared: row?.isPrepared ?? false,
    asked,
    ...preparedWith(prepared, build.dependence),
  }
}

/** Rows of prepared contexts name one lane, so a context beside a state of another is built when it is requested. */
function preparedWith(key: string | null, dependence: Dependence | null): { readonly prepared?: Prepared } {
  const [lane, ...others] = dependence?.lanes ?? []
  if (key === null || dependence === null || lane === undefined || others.length > 0) return {}
  const { versions, holdsUntilMs } = dependence
  return { prepared: { key, lane, versions, holdsUntilMs } }
}

function sizeOf(messages: readonly Message[]): WorkSize {
  return { messages: messages.length, tokens: messages.reduce((sum, { tokens }) => sum + tokens, 0) }
}
