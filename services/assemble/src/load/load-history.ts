import type { ContextRequest, Fill } from '@heddle/contracts'
import {
  type BuildInput,
  countMessageTokens,
  ineligibleReason,
  isInWindow,
  latestOfUser,
  type Message,
  messagesAfter,
  positionOf,
  sentIn,
  stateFromAnywhere,
  statusLimits,
  type TurnMessages,
  windowBounds,
} from '@heddle/core'
import { refuseLargeJob } from '@heddle/queue'
import {
  type Compaction,
  countMessages,
  countTurns,
  countWindow,
  loadActivity,
  loadPins,
  loadUncovered,
  loadUndone,
  markPinned,
  markUndone,
  type Tx,
  withPrunings,
} from '@heddle/store'
import { beforeScope, stateInScope, stateInWindow, unloadedRanges } from './applicable-state.js'
import { describe, type LoadDeps } from './describe.js'
import { fillOf, isLaneKept, loadNewestCovered, sizeToRead } from './fill.js'
import { hiddenOf } from './hidden-of.js'
import { isOfOthers, scopeSinceMs, scopeThreadIds } from './scope.js'
import { servedFrom } from './served-state.js'

/**
 * Loads the input of a context of messages.
 *
 * @param given how the budget is filled, if that does not depend on the thread
 */
export async function loadHistoryInput(
  tx: Tx,
  asked: Compaction,
  request: ContextRequest,
  deps: LoadDeps,
  given?: Fill,
): Promise<BuildInput> {
  const { compaction, fill: filling } = servedFrom(asked, request)
  const { thread, settings } = compaction
  const { threadId } = thread
  const { rollingWindow } = settings
  const windowQuery = { rollingWindow, ...thread, nowMs: deps.asOfMs }
  const window = windowBounds(windowQuery)
  const sinceMs = scopeSinceMs(request, deps.asOfMs)
  // The lower bound of a window is exclusive, that of a scope inclusive.
  const bounds =
    sinceMs === null ? window : { ...window, sinceMs: Math.max(sinceMs - 1, window.sinceMs ?? sinceMs - 1) }
  const published = stateInWindow(compaction, bounds)
  const bare = published !== null && sinceMs !== null ? stateInScope(published, sinceMs) : published
  const lastClearedAtMs = sinceMs === null ? thread.lastClearedAtMs : bounds.sinceMs
  const cleared = { threadId, clearedSeq: thread.clearedSeq, lastClearedAtMs }
  const { agentId } = thread
  const described = describe(thread, settings, request, deps)
  const fill = given ?? filling ?? (await fillOf(tx, compaction, request, deps.settings))
  refuseLargeJob(sizeToRead(compaction, fill), deps.sizeMax)
  const [{ messages: uncovered, hasMore }, covered, undone, pins, counts, scoped, activity] = await Promise.all([
    loadUncovered(tx, { ...cleared, state: bare, keep: 'newest' }),
    fill === 'budget' && bare !== null ? loadNewestCovered(tx, { ...cleared, state: bare }, compaction.lane) : [],
    loadUndone(tx, threadId),
    loadPins(tx, threadId),
    countWindow(tx, windowQuery),
    sinceMs === null ? null : countMessages(tx, { threadId, sinceMs: bounds.sinceMs, afterSeq: bounds.clearedSeq }),
    loadActivity(tx, { threadId, agentId, amongIds: scopeThreadIds(request, deps), ...statusLimits }),
  ])
  const { inWindow, ever } = counts
  const inScope = scoped ?? inWindow
  const messages = markPinned(markUndone([...covered, ...uncovered], undone), pins)
  const { current } = compaction
  const own = bare && current && (await withPrunings(tx, current, bare, messages))
  // Of several threads, the texts are changed when the threads are merged.
  const isFromAnywhere = request.references === 'full' && !isOfOthers(request)
  const state = own && isFromAnywhere ? stateFromAnywhere(own, thread.name, described.count) : own
  const loaded = messages.filter((message) => isInWindow(message, bounds)).map((message) => counted(message, described))
  const unloadedCount = inScope.eligible - loaded.filter((message) => ineligibleReason(message) === null).length
  return {
    ...described,
    fill,
    isLaneKept: isLaneKept(compaction),
    activity,
    messages: loaded,
    unloaded: [
      ...unloadedRanges(compaction, state, hasMore, unloadedCount, tokensOf(covered)),
      ...beforeScope(inWindow, inScope, sinceMs),
    ],
    ineligible: ever.aside,
    hidden: [hiddenOf(compaction, request, counts)],
    imported: counts.imported,
    state,
    stateId: state === null ? null : (current?.id ?? null),
    turnsBefore: await turnsBeforeOf(tx, { threadId, messages: loaded, after: bare?.covered?.to ?? null }),
    summarizer: (state?.summary != null && current?.summarizer) || undefined,
  }
}

/** Read only if the user's latest message is not among those that no summary covers. */
async function turnsBeforeOf(
  tx: Tx,
  { threadId, messages, after }: TurnMessages & { readonly threadId: string },
): Promise<number> {
  if (latestOfUser(messages, after) !== null) return 0
  const [first] = messagesAfter(messages, after)
  return await countTurns(tx, { threadId, before: first === undefined ? null : positionOf(first) })
}

function tokensOf(messages: readonly Message[]): number {
  return messages.reduce((sum, { tokens }) => sum + tokens, 0)
}

/**
 * A message in the request's format. A budget may depend on its size only after the request's counter has counted it.
 */
export function counted(
  message: Message,
  { counter, count, format }: Pick<BuildInput, 'counter' | 'count' | 'format'>,
): Message {
  const isCounted = counter === 'o200k' && message.tokensExact
  const exact = isCounted ? message : { ...message, ...countMessageTokens(message, count), tokensExact: true }
  return sentIn(format, exact)
}
