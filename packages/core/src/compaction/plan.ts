import { type Conversation, readConversation } from '../conversation.js'
import type { Message, Position } from '../message.js'
import { comparePositions, positionOf } from '../order.js'
import { decidePrunings, type PruneDecision } from '../prune/decide.js'
import { countTokens } from '../tokens.js'
import { toolCatalogOf } from '../tools/catalog.js'
import { turnEnds } from '../turns.js'
import { countMessageTokens, overheadTokens, rawCost } from './costs.js'
import { type Lane, triggerTokens } from './lane.js'
import { type CompactionState, type Coverage, isCovered } from './state.js'
import { reportedTokens } from './usage.js'

/** A decision on a message, with the tokens that remain of it. */
export interface PlannedPruning extends PruneDecision {
  readonly tokens: number
}

/** What a compaction does: texts that replace messages, and a range to be summarized. */
export interface CompactionPlan {
  readonly point: Position
  readonly prunings: readonly PlannedPruning[]
  readonly topIds: readonly string[]
  /** The whole range that the summary must cover; null where pruning was enough and no summary existed. */
  readonly covered: Coverage | null
  /** Whether the range grew, so that a new summary is needed. */
  readonly needsSummary: boolean
  /** The messages that the summary newly covers, among those given. */
  readonly newlyCovered: readonly Message[]
  /** By how many tokens the context becomes smaller; a summary counts with its longest length. */
  readonly freedTokens: number
}

/** A compaction that frees less than this share of the limit is not worth the provider's prompt cache that it costs. */
const FREED_SHARE_MIN = 0.05
/** After a compaction the context must grow by this share before another is tried, so that none follows at once. */
const GROWTH_SHARE_MIN = 0.1

/**
 * The longest summary of a lane: what was set, but never more than an eighth of a small limit. Plans count a summary as
 * this long, whatever its length turns out to be: so no plan depends on a summarizer, or has to wait for one.
 */
export function summaryTokensMax(lane: Lane): number {
  return Math.max(50, Math.min(lane.maxSummaryTokens, Math.floor(lane.limitTokens / 8)))
}

/** Tokens that a message takes in a context under a state: nothing, its replacement, or itself. */
export function costUnder(message: Message, state: CompactionState | null): number {
  if (isCovered(message, state)) return 0
  const pruning = state?.prunings.get(message.id)
  if (!pruning) return rawCost(message)
  return pruning.action === 'remove' ? 0 : pruning.tokens + overheadTokens(message)
}

/**
 * Finds the next compaction of a conversation, or null where none is due. Walking forward from the state's point, it is
 * due at the first place between turns where the context has grown past the trigger. It looks at nothing but the
 * messages up to there, so a worker that wakes late finds the same series as one that was there all along (DESIGN:
 * invariant 5).
 */
export function nextCompaction(
  conversation: Conversation,
  state: CompactionState | null,
  lane: Lane,
  reference: (message: Message) => string,
): CompactionPlan | null {
  if (lane.strategy !== 'sandwich') return null
  const { messages } = conversation
  const ends = turnEnds(messages)
  let usage = plannedSummaryTokens(state, lane)
  let at = 0
  for (; state !== null && at < messages.length; at++) {
    const message = messages[at]
    if (!message || comparePositions(message, state.point) > 0) break
    usage += costUnder(message, state)
  }
  let due = Math.max(triggerTokens(lane.limitTokens), state === null ? 0 : usage + lane.limitTokens * GROWTH_SHARE_MIN)
  for (; at < messages.length; at++) {
    const message = messages[at]
    if (!message) break
    usage = reportedTokens(message) ?? usage + costUnder(message, state)
    if (usage < due || !ends[at]) continue
    const plan = planAt(readConversation(messages.slice(0, at + 1)), state, lane, reference, usage)
    if (plan) return plan
    due = usage + lane.limitTokens * GROWTH_SHARE_MIN
  }
  return null
}

/** What a state's summary is counted as, whatever its length. */
export function plannedSummaryTokens(state: CompactionState | null, lane: Lane): number {
  return state?.covered == null ? 0 : summaryTokensMax(lane)
}

/**
 * What a compaction right at the end of a conversation would do, whether or not one is due, and however little it freed:
 * for people who want to see it before. Null where there is nothing to compact.
 */
export function planCompaction(
  conversation: Conversation,
  state: CompactionState | null,
  lane: Lane,
  reference: (message: Message) => string,
): { plan: CompactionPlan | null; usage: number; isDue: boolean } {
  const usage = conversation.messages.reduce(
    (sum, message) => sum + costUnder(message, state),
    plannedSummaryTokens(state, lane),
  )
  const isCompacted = lane.strategy === 'sandwich'
  const plan = isCompacted ? planAt(conversation, state, lane, reference, usage, 1) : null
  return { plan, usage, isDue: isCompacted && usage >= triggerTokens(lane.limitTokens) }
}

/** What was undone may take this share of the limit; the rest of it, oldest first, is compacted like everything else. */
const UNDONE_SHARE_MAX = 0.5

/** The messages that are held verbatim because their pruning was undone. */
function heldUndone({ undone }: Conversation, lane: Lane): Set<string> {
  const held = new Set<string>()
  let left = lane.limitTokens * UNDONE_SHARE_MAX
  for (const turn of undone.toReversed()) {
    const cost = turn.reduce((sum, message) => sum + rawCost(message), 0)
    if (cost > left) continue
    left -= cost
    for (const message of turn) held.add(message.id)
  }
  return held
}

/** @param seen the conversation up to the point of the compaction, read as if there were nothing after it */
function planAt(
  seen: Conversation,
  state: CompactionState | null,
  lane: Lane,
  reference: (message: Message) => string,
  usage: number,
  freedMin = lane.limitTokens * FREED_SHARE_MIN,
): CompactionPlan | null {
  const keptRaw = new Set([...seen.keptRaw, ...heldUndone(seen, lane)])
  const pointMessage = seen.messages.at(-1)
  if (!pointMessage) return null
  const visible = seen.messages.filter((message) => !isCovered(message, state))
  const byId = new Map(visible.map((message) => [message.id, message]))
  const prunings = decidePrunings({
    messages: visible,
    pairs: seen.pairs,
    settings: lane.prune,
    alreadyPruned: new Set(state?.prunings.keys()),
    condensed: condensedIn(state),
    keptRaw,
    reference,
    catalog: toolCatalogOf(lane.tools),
  }).map((decision) => ({ ...decision, tokens: remainingTokens(decision, byId.get(decision.messageId)) }))
  const freedByPruning = prunings.reduce((sum, decision) => {
    const message = byId.get(decision.messageId)
    if (!message) return sum
    const left = decision.action === 'remove' ? 0 : decision.tokens + overheadTokens(message)
    return sum + costUnder(message, state) - left
  }, 0)
  const summary =
    usage - freedByPruning > lane.limitTokens * lane.sandwich.compressionThreshold
      ? planSummary({ ...seen, keptRaw }, state, lane, new Set(prunings.map((decision) => decision.messageId)))
      : null
  const freed = freedByPruning + (summary?.freedTokens ?? 0)
  if (freed < freedMin) return null
  return {
    point: positionOf(pointMessage),
    prunings,
    topIds: summary?.topIds ?? state?.topIds ?? [],
    covered: summary?.covered ?? state?.covered ?? null,
    needsSummary: summary !== null,
    newlyCovered: summary?.newlyCovered ?? [],
    freedTokens: freed,
  }
}

function condensedIn(state: CompactionState | null): Set<string> {
  const prunings = [...(state?.prunings.values() ?? [])]
  return new Set(prunings.filter((pruning) => pruning.action === 'condense').map((pruning) => pruning.messageId))
}

/** A condensed message keeps its calls and its signed reasoning; only its content is replaced. */
function remainingTokens(decision: PruneDecision, message: Message | undefined): number {
  if (!message || decision.action === 'remove') return 0
  return countMessageTokens({ ...message, content: decision.text }, countTokens)
}

interface SummaryPlan {
  readonly topIds: readonly string[]
  readonly covered: Coverage
  readonly newlyCovered: readonly Message[]
  readonly freedTokens: number
}

/**
 * Spec 003's sandwich: the first messages and the last stay, the middle is summarized; both cuts fall between turns. The
 * latest request of the user stays raw too, wherever it is: an agent that lost it would take up finished work again.
 */
function planSummary(
  { messages: seen, boundaries, keptRaw }: Conversation,
  state: CompactionState | null,
  lane: Lane,
  newlyPruned: ReadonlySet<string>,
): SummaryPlan | null {
  const { preserveTop, preserveBottom } = lane.sandwich
  if (seen.length <= preserveTop + preserveBottom) return null
  const topEnd = state?.covered
    ? seen.findIndex((message) => state.covered !== null && comparePositions(message, state.covered.from) >= 0)
    : firstCut(boundaries, preserveTop)
  const bottomStart = lastCut(boundaries, seen.length - preserveBottom)
  const start = topEnd < 0 ? seen.length : topEnd
  if (bottomStart <= start) return null
  // The range only ever grows: what else could be new in it is a request that is no longer the latest, which can wait.
  const last = seen[bottomStart - 1]
  if (!last || (state?.covered && comparePositions(last, state.covered.to) <= 0)) return null

  const latestRequest = seen.findLast((message) => message.role === 'user')
  const top = state?.covered
    ? state.topIds.filter((id) => seen.slice(0, start).some((message) => message.id === id))
    : seen.slice(0, start).map((message) => message.id)
  const kept = new Set(keptRaw)
  if (latestRequest) kept.add(latestRequest.id)
  const middle = seen.slice(start, bottomStart).filter((message) => !kept.has(message.id))
  const newlyCovered = middle.filter((message) => !isCovered(message, state))
  const first = seen[start]
  if (newlyCovered.length === 0 || !first) return null

  const cost = (message: Message) => (newlyPruned.has(message.id) ? 0 : costUnder(message, state))
  const replaced = newlyCovered.reduce((sum, message) => sum + cost(message), plannedSummaryTokens(state, lane))
  const freedTokens = replaced - summaryTokensMax(lane)
  // A summary may be as long as it is allowed to: then it must still be shorter than what it stands for.
  if (freedTokens <= 0) return null
  return {
    topIds: [
      ...top,
      ...seen
        .slice(start, bottomStart)
        .filter((message) => kept.has(message.id))
        .map((message) => message.id),
    ],
    covered: { from: state?.covered?.from ?? positionOf(first), to: positionOf(last) },
    newlyCovered,
    freedTokens,
  }
}

/** The first legal cut that leaves at least `least` messages before it. */
function firstCut(boundaries: readonly boolean[], least: number): number {
  for (let cut = least; cut <= boundaries.length; cut++) if (cut === 0 || boundaries[cut - 1]) return cut
  return -1
}

/** The last legal cut at or before `most`. */
function lastCut(boundaries: readonly boolean[], most: number): number {
  for (let cut = Math.max(0, most); cut > 0; cut--) if (boundaries[cut - 1]) return cut
  return 0
}
