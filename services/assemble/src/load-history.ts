import type { ContextRequest, CounterName } from '@heddle/contracts'
import {
  type BuildInput,
  countMessageTokens,
  ineligibleReason,
  isInWindow,
  type Message,
  statusLimits,
  windowBounds,
} from '@heddle/core'
import {
  type Compaction,
  countMessages,
  countWindow,
  loadActivity,
  loadUncovered,
  loadUndone,
  markUndone,
  type Tx,
  withPrunings,
} from '@heddle/store'
import { describe, type LoadDeps } from './describe.js'
import { hiddenOf } from './hidden-of.js'
import { scopeSinceMs, scopeThreadIds } from './scope.js'
import { beforeScope, stateInScope, stateInWindow, unloadedRanges } from './standing-in.js'

/** What a context of messages is made of. */
export async function loadHistoryInput(
  tx: Tx,
  compaction: Compaction,
  request: ContextRequest,
  deps: LoadDeps,
): Promise<BuildInput> {
  const { thread, settings } = compaction
  const { threadId } = thread
  const { rollingWindow } = settings
  const windowQuery = { rollingWindow, ...thread, nowMs: deps.shownAtMs }
  const window = windowBounds(windowQuery)
  const sinceMs = scopeSinceMs(request, deps.shownAtMs)
  // The bound of a window is out of it, that of a scope is in it.
  const bounds =
    sinceMs === null ? window : { ...window, sinceMs: Math.max(sinceMs - 1, window.sinceMs ?? sinceMs - 1) }
  const published = stateInWindow(compaction, bounds)
  const bare = published !== null && sinceMs !== null ? stateInScope(published, sinceMs) : published
  const lastClearedAtMs = sinceMs === null ? thread.lastClearedAtMs : bounds.sinceMs
  const cleared = { threadId, clearedSeq: thread.clearedSeq, lastClearedAtMs }
  const { agentId } = thread
  const [{ messages: read, hasMore }, undone, counts, scoped, activity] = await Promise.all([
    loadUncovered(tx, { ...cleared, state: bare, keep: 'newest' }),
    loadUndone(tx, threadId),
    countWindow(tx, windowQuery),
    sinceMs === null ? null : countMessages(tx, { threadId, sinceMs: bounds.sinceMs, afterSeq: bounds.clearedSeq }),
    loadActivity(tx, { threadId, agentId, amongIds: scopeThreadIds(request, deps), ...statusLimits }),
  ])
  const { inWindow, ever } = counts
  const inScope = scoped ?? inWindow
  const messages = markUndone(read, undone)
  const { current } = compaction
  const state = bare && current && (await withPrunings(tx, current, bare, messages))
  const described = describe(thread, settings, request, deps)
  const loaded = messages
    .filter((message) => isInWindow(message, bounds))
    .map((message) => counted(message, described.counter, described.count))
  const unloadedCount = inScope.eligible - loaded.filter((message) => ineligibleReason(message) === null).length
  return {
    ...described,
    activity,
    messages: loaded,
    unloaded: [
      ...unloadedRanges(compaction, state, hasMore, unloadedCount),
      ...beforeScope(inWindow, inScope, sinceMs),
    ],
    ineligible: ever.aside,
    hidden: [hiddenOf(compaction, request, counts)],
    imported: counts.imported,
    state,
    stateId: state === null ? null : (current?.id ?? null),
  }
}

/** A budget may depend on a message's size only once it was counted, by the counter of the request. */
export function counted(message: Message, counter: CounterName, count: (text: string) => number): Message {
  if (counter === 'o200k' && message.tokensExact) return message
  return { ...message, tokens: countMessageTokens(message, count), tokensExact: true }
}
