import {
  type ContextRequest,
  type CounterName,
  notFound,
  type PartialSettings,
  type Settings,
  validationError,
} from '@heddle/contracts'
import {
  type BuildInput,
  countMessageTokens,
  estimateTokens,
  ITERATIONS,
  ineligibleReason,
  isInWindow,
  MESSAGES_LEFT_OUT,
  type Message,
  messageReference,
  statusLimits,
  windowBounds,
} from '@heddle/core'
import {
  type Compaction,
  type ContextRow,
  countMessages,
  isPrunedUnderOthers,
  loadActivity,
  loadCompaction,
  loadLoop,
  loadUncovered,
  loadUndone,
  markUndone,
  type ThreadRow,
  type Tx,
  withPrunings,
} from '@heddle/store'
import { type LoadedItems, loadItems } from './load-items.js'
import { stateInWindow, unloadedRanges } from './standing-in.js'
import type { TokenCounter } from './token-counter.js'

export interface LoadDeps {
  /** The moment that the context shows, in milliseconds since 1970. */
  readonly shownAtMs: number
  readonly counter: TokenCounter
  readonly settings: PartialSettings
}

/** What a context is made of, and whether the thread's compactions have yet to follow a change of its settings. */
export interface LoadedForBuild {
  readonly input: BuildInput
  /** Those that the context's own are chosen from; null where the agent has none. */
  readonly items: LoadedItems | null
  readonly awaitsPruning: boolean
}

/** Reads everything that a requested context is made of. */
export async function loadBuildInput(tx: Tx, requested: ContextRow, deps: LoadDeps): Promise<LoadedForBuild> {
  const { request, threadId } = requested
  const compaction = await loadCompaction(tx, { threadId, settings: deps.settings, request: overrides(request) })
  if (!compaction)
    throw notFound('thread', request.thread, 'append messages to it first, or list the threads there are')
  const { thread, settings } = compaction
  if (request.agent !== undefined && request.agent !== thread.agentName) {
    throw validationError('agent', `must be the thread's agent, "${thread.agentName}"`, request.agent)
  }

  const awaitsPruning = isPrunedUnderOthers(compaction, deps.settings)
  const isLoop = settings.strategy === ITERATIONS
  const load = isLoop ? loadLoopInput : loadHistoryInput
  const [input, items] = await Promise.all([load(tx, compaction, request, deps), loadItems(tx, thread)])
  return { input, items, awaitsPruning }
}

/** What a context of messages is made of. */
async function loadHistoryInput(
  tx: Tx,
  compaction: Compaction,
  request: ContextRequest,
  deps: LoadDeps,
): Promise<BuildInput> {
  const { thread, settings } = compaction
  const { threadId } = thread
  const bounds = windowBounds({ ...settings, ...thread, nowMs: deps.shownAtMs })
  const bare = stateInWindow(compaction, bounds)
  const cleared = { threadId, clearedSeq: thread.clearedSeq, lastClearedAtMs: thread.lastClearedAtMs }
  const isUnbounded = bounds.sinceMs === null && bounds.clearedSeq === 0
  const { agentId } = thread
  const [{ messages: read, hasMore }, undone, inWindow, everyone, activity] = await Promise.all([
    loadUncovered(tx, { ...cleared, state: bare, keep: 'newest' }),
    loadUndone(tx, threadId),
    countMessages(tx, { threadId, sinceMs: bounds.sinceMs, afterSeq: bounds.clearedSeq }),
    isUnbounded ? null : countMessages(tx, { threadId, sinceMs: null, afterSeq: 0 }),
    loadActivity(tx, { threadId, agentId, ...statusLimits }),
  ])
  const ever = everyone ?? inWindow
  const messages = markUndone(read, undone)
  const { current } = compaction
  const state = bare && current && (await withPrunings(tx, current, bare, messages))
  const described = describe(thread, settings, request, deps)
  const loaded = messages
    .filter((message) => isInWindow(message, bounds))
    .map((message) => counted(message, described.counter, described.count))
  const unloadedCount = inWindow.eligible - loaded.filter((message) => ineligibleReason(message) === null).length
  return {
    ...described,
    activity,
    messages: loaded,
    unloaded: unloadedRanges(compaction, state, hasMore, unloadedCount),
    ineligible: ever.aside,
    imported: ever.eligible,
    state,
    stateId: state === null ? null : (current?.id ?? null),
  }
}

/** What a context of a loop is made of: iterations and their summary. Of messages it only says how many there are. */
async function loadLoopInput(
  tx: Tx,
  { thread, settings }: Compaction,
  request: ContextRequest,
  deps: LoadDeps,
): Promise<BuildInput> {
  const { threadId, agentId } = thread
  const bounds = windowBounds({ ...settings, ...thread, nowMs: deps.shownAtMs })
  const [{ loop, progress }, inWindow, ever, activity] = await Promise.all([
    loadLoop(tx, { thread, settings }),
    countMessages(tx, { threadId, sinceMs: bounds.sinceMs, afterSeq: bounds.clearedSeq }),
    countMessages(tx, { threadId, sinceMs: null, afterSeq: 0 }),
    loadActivity(tx, { threadId, agentId, ...statusLimits }),
  ])
  return {
    ...describe(thread, settings, request, deps),
    activity,
    loop,
    messages: [],
    unloaded: [{ mode: 'left-out', count: inWindow.eligible, tokens: 0, reason: MESSAGES_LEFT_OUT }],
    ineligible: ever.aside,
    imported: ever.eligible,
    state: null,
    stateId: progress?.id ?? null,
  }
}

/** What contexts of all strategies are made of. */
function describe(thread: ThreadRow, settings: Settings, request: ContextRequest, { counter }: LoadDeps) {
  const counterName = request.counter ?? 'o200k'
  return {
    agent: {
      name: thread.agentName,
      version: thread.agentVersion,
      systemPrompt: thread.systemPrompt,
      docs: thread.docs,
    },
    thread,
    request,
    settings,
    format: request.format ?? 'neutral',
    counter: counterName,
    count: counterName === 'o200k' ? counter.count : estimateTokens,
    headSeq: thread.headSeq,
    clearEpoch: thread.clearEpoch,
    reference: (message: Message) => messageReference(message.code),
  } as const
}

function overrides(request: ContextRequest): PartialSettings {
  return {
    ...(request.model !== undefined && { model: request.model }),
    ...(request.budget !== undefined && { budget: request.budget }),
    ...(request.strategy !== undefined && { strategy: request.strategy }),
    ...(request.iterations !== undefined && { iterations: request.iterations }),
  }
}

/** A budget may depend on a message's size only once it was counted, by the counter of the request. */
function counted(message: Message, counter: CounterName, count: (text: string) => number): Message {
  if (counter === 'o200k' && message.tokensExact) return message
  return { ...message, tokens: countMessageTokens(message, count), tokensExact: true }
}
