import { type ContextJob, type ContextResult, errorData, HeddleError, type PartialSettings } from '@heddle/contracts'
import {
  buildContext,
  laneOf,
  memoryLimits,
  nameTexts,
  preparedKey,
  renderedParts,
  sharedPrefixTokens,
  type TextEmbedder,
  toLines,
} from '@heddle/core'
import { done, type Job, type Outcome, skipped } from '@heddle/queue'
import type { Clock, Logger } from '@heddle/runtime'
import {
  failContext,
  finishContext,
  loadContext,
  loadPrepared,
  type Prepared,
  packLines,
  type Store,
  type Tx,
} from '@heddle/store'
import { chooseItems } from './choose-items.js'
import { refuseLate } from './late.js'
import { type LoadedForBuild, loadBuildInput } from './load.js'
import { otherThreads } from './other-threads.js'
import { recallMemories } from './recall-memories.js'
import { isOfOthers } from './scope.js'
import type { ThreadTails } from './thread-tails.js'
import type { TokenCounter } from './token-counter.js'

export interface AssembleDeps {
  readonly store: Store
  readonly clock: Clock
  readonly counter: TokenCounter
  readonly tails: ThreadTails
  /** Settings of the file and the environment, under those of agents. */
  readonly settings: PartialSettings
  /** Says how near items are to a request; null where none could be loaded. Default none. */
  readonly embedder?: TextEmbedder | null
  /** How long choosing items may take, in milliseconds. Default 10,000. */
  readonly selectionTimeoutMs?: number
  readonly log: Pick<Logger, 'warn'>
  /** Tells subscribers that a context is there. Nobody waits for it: the requester's reply comes first. */
  readonly tellBuilt: (projectId: string, threadId: string, contextId: string) => void
}

/**
 * Builds a requested context and stores it with its receipt. A request that cannot be met fails with its reason in the
 * row; a request that was answered already is left as it is.
 *
 * @throws HeddleError the reason, which also goes to the requester
 */
export async function assemble(job: Job<ContextJob>, deps: AssembleDeps): Promise<Outcome> {
  const { projectId, contextId } = job.payload
  try {
    // One transaction for all that is read: each costs three round trips of its own. One moment, too: messages that came
    // between reading and counting would be accounted for as what they are not.
    const loaded = await deps.store.inProject(projectId, (tx) => load(tx, job.payload, deps), { snapshot: true })
    if ('reason' in loaded) return skipped(loaded.reason)
    const { deadlineAtMs } = loaded
    const items =
      loaded.items && (await chooseItems(deps, projectId, { ...loaded.items, input: loaded.input, deadlineAtMs }))
    const input = items === null ? loaded.input : { ...loaded.input, items }
    const bare = buildContext(input)
    const { threadId, thread } = loaded
    const memories = await recallMemories(deps, { projectId, threadId, thread, input, built: bare, deadlineAtMs })
    const built = memories === null ? bare : buildContext({ ...input, memories })
    // One that cannot be had has no dimensions, and compares nothing.
    const embedder = deps.embedder?.dimensions ? { embedder: deps.embedder.model } : {}
    const receipt = { ...built.receipt, ...embedder }
    const result = { id: contextId, ...built, receipt }
    await record(result, loaded, job, deps)
    deps.tellBuilt(projectId, loaded.threadId, contextId)
    return loaded.awaitsPruning ? done([{ wake: 'prune', projectId, threadId: loaded.threadId }]) : done()
  } catch (error) {
    const isFinal = error instanceof HeddleError && error.disposition !== 'retry'
    if (isFinal || job.attempt >= job.attemptsMax) {
      await deps.store.inProject(projectId, (tx) => failContext(tx, { id: contextId, error: errorData(error) }))
    }
    if (isFinal) return skipped(error.message)
    throw error
  }
}

/** Stores the context: for its requester as it is, and for later as what it does not share with the one before it. */
async function record(
  built: ContextResult,
  { input, threadId, shownAtMs, prepared }: LoadedInput,
  { payload: { projectId } }: Job<ContextJob>,
  { store, tails, clock }: AssembleDeps,
): Promise<void> {
  const { request } = input
  const before = tails.find(threadId, request, clock.nowMs())
  const parts = renderedParts(built, input.count)
  const result = before === null ? built : withSharedPrefix(built, sharedPrefixTokens(before.parts, parts))
  // What shows messages of other threads goes with them as a whole.
  const isWoven = isOfOthers(request)
  const others = otherThreads(projectId, result, input)
  const lines = toLines(
    result,
    nameTexts(isWoven ? [] : input.messages, input.agent, request),
    (text) => isWoven || others.isAbout(text),
  )
  const stored = packLines(result.id, lines, before?.base ?? null)
  try {
    await store.inProject(projectId, (tx) =>
      finishContext(tx, { id: result.id, result, stored, shownAtMs, prepared, mentions: others.threadIds }),
    )
  } catch (error) {
    // The next try is based on nothing that may be gone.
    tails.forget(threadId, request)
    throw error
  }
  tails.remember(threadId, request, { base: stored.asBase, parts }, clock.nowMs())
}

function withSharedPrefix(result: ContextResult, tokens: number): ContextResult {
  return { ...result, receipt: { ...result.receipt, sharedPrefixTokens: tokens } }
}

interface LoadedInput extends LoadedForBuild {
  readonly threadId: string
  /** The moment that the context shows. */
  readonly shownAtMs: number
  readonly prepared?: Prepared
  readonly deadlineAtMs: number
}

type Loaded = LoadedInput | { readonly reason: string }

async function load(tx: Tx, { projectId, contextId }: ContextJob, deps: AssembleDeps): Promise<Loaded> {
  const requested = await loadContext(tx, { id: contextId })
  if (!requested) return { reason: 'the request is gone' }
  if (requested.status !== 'requested') return { reason: `already ${requested.status}` }
  refuseLate(requested, deps.clock)
  const shownAtMs = deps.clock.nowMs()
  const { threadId, request, deadlineAtMs } = requested
  const build = await loadBuildInput(tx, requested, { ...deps, projectId, shownAtMs })
  const loaded = { ...build, threadId, shownAtMs, deadlineAtMs }
  const key = preparedKey(request, deps.settings)
  // What an agent's items are to a request, and what it recalls, is found out for each: nothing is prepared for them.
  const isAskedAnew = build.items !== null || memoryLimits(request, build.input.settings) !== null
  if (key === null || build.input.loop !== undefined || isAskedAnew) return loaded
  const { settings } = build.input
  const lane = laneOf(settings).key
  const made = await loadPrepared(tx, { threadId, lane, shownAtMs, rollingWindow: settings.rollingWindow })
  return { ...loaded, prepared: { key, ...made } }
}
