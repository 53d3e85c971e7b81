import {
  type ContextRequest,
  type CounterName,
  notFound,
  type PartialSettings,
  validationError,
} from '@heddle/contracts'
import {
  type BuildInput,
  type CompactionState,
  countMessageTokens,
  estimateTokens,
  ineligibleReason,
  isInWindow,
  type Message,
  messageReference,
  statusLimits,
  type UnloadedRange,
  type WindowBounds,
  windowBounds,
} from '@heddle/core'
import type { Clock } from '@heddle/runtime'
import {
  CONVERSATION_MESSAGES_MAX,
  type Compaction,
  type ContextRow,
  countMessages,
  loadActivity,
  loadCompaction,
  loadUncovered,
  loadUndone,
  markUndone,
  type Tx,
  toCompactionState,
  withPrunings,
} from '@heddle/store'
import type { TokenCounter } from './token-counter.js'

export interface LoadDeps {
  readonly clock: Clock
  readonly counter: TokenCounter
  readonly settings: PartialSettings
}

/** Reads everything that a requested context is made of. */
export async function loadBuildInput(tx: Tx, requested: ContextRow, deps: LoadDeps): Promise<BuildInput> {
  const { request, threadId } = requested
  const compaction = await loadCompaction(tx, { threadId, settings: deps.settings, request: overrides(request) })
  if (!compaction)
    throw notFound('thread', request.thread, 'append messages to it first, or list the threads there are')
  const { thread, settings } = compaction
  if (request.agent !== undefined && request.agent !== thread.agentName) {
    throw validationError('agent', `must be the thread's agent, "${thread.agentName}"`, request.agent)
  }

  const bounds = windowBounds({ ...settings, ...thread, nowMs: deps.clock.nowMs() })
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
  const counterName = request.counter ?? 'o200k'
  const count = counterName === 'o200k' ? deps.counter.count : estimateTokens
  const loaded = messages
    .filter((message) => isInWindow(message, bounds))
    .map((message) => counted(message, counterName, count))
  const unloadedCount = inWindow.eligible - loaded.filter((message) => ineligibleReason(message) === null).length
  return {
    agent: {
      name: thread.agentName,
      version: thread.agentVersion,
      systemPrompt: thread.systemPrompt,
      docs: thread.docs,
    },
    thread,
    activity,
    request,
    settings,
    format: request.format ?? 'neutral',
    counter: counterName,
    count,
    messages: loaded,
    unloaded: unloadedRanges(compaction, state, hasMore, unloadedCount),
    ineligible: ever.aside,
    imported: ever.eligible,
    state,
    stateId: state === null ? null : (current?.id ?? null),
    headSeq: thread.headSeq,
    clearEpoch: thread.clearEpoch,
    reference: (message) => messageReference(message.code),
  }
}

/** A state holds while the end of what it covers is in the window; past that its summary is of nothing that is shown. */
function stateInWindow({ current }: Compaction, { sinceMs }: WindowBounds): CompactionState | null {
  if (current === null) return null
  const state = toCompactionState(current)
  if (state.covered === null || sinceMs === null || state.covered.to.orderedAtMs > sinceMs) return state
  return { ...state, covered: null, topIds: [], summary: null, summaryTokens: 0 }
}

function overrides(request: ContextRequest): PartialSettings {
  return {
    ...(request.model !== undefined && { model: request.model }),
    ...(request.budget !== undefined && { budget: request.budget }),
    ...(request.strategy !== undefined && { strategy: request.strategy }),
  }
}

/** A budget may depend on a message's size only once it was counted, by the counter of the request. */
function counted(message: Message, counter: CounterName, count: (text: string) => number): Message {
  if (counter === 'o200k' && message.tokensExact) return message
  return { ...message, tokens: countMessageTokens(message, count), tokensExact: true }
}

/** What was counted but not read: the messages that the summary covers, and those beyond the cap on reading. */
function unloadedRanges(
  compaction: Compaction,
  state: CompactionState | null,
  hasMore: boolean,
  count: number,
): UnloadedRange[] {
  const row = compaction.current
  const covered = state?.covered == null || !row ? 0 : hasMore ? Math.min(count, row.coveredCount) : count
  return [
    { mode: 'covered', count: covered, tokens: row?.coveredTokens ?? 0, reason: 'summarized' },
    {
      mode: 'left-out',
      count: count - covered,
      tokens: 0,
      reason: `older than the newest ${CONVERSATION_MESSAGES_MAX} messages`,
    },
  ]
}
