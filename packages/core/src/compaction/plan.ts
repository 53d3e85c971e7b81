import { type Conversation, readConversation } from '../conversation/conversation.js'
import type { Message, Position } from '../conversation/message.js'
import { comparePositions, positionOf } from '../conversation/order.js'
import { turnEnds } from '../conversation/turns.js'
import { decidePrunings, type PruneDecision } from '../prune/decide.js'
import { toolCatalogOf } from '../tools/catalog.js'
import { overheadTokens, rawCost } from './costs.js'
import { dueTokens, isCompactionDue, type Lane } from './lane.js'
import { planSummary } from './plan-summary.js'
import { remainingTokens } from './remaining.js'
import { type CompactionState, type Coverage, isCovered, keepsText } from './state.js'
import { costUnder, plannedSummaryTokens } from './state-costs.js'
import { reportedIn } from './usage.js'

/** A decision on a message, with the tokens left after it. */
export interface PlannedPruning extends PruneDecision {
  readonly tokens: number
}

/** The effects of a compaction: texts that replace messages, and a range to summarize. */
export interface CompactionPlan {
  readonly point: Position
  readonly prunings: readonly PlannedPruning[]
  readonly topIds: readonly string[]
  /** The whole range that the summary must cover; null if pruning was enough and there was no summary before. */
  readonly covered: Coverage | null
  /** Whether the range grew, so that a new summary is needed. */
  readonly needsSummary: boolean
  /** The messages that the summary newly covers, among those given. */
  readonly newlyCovered: readonly Message[]
  /** Tokens by which the context shrinks; a summary counts with its maximum length. */
  readonly freedTokens: number
}

/** A compaction that frees less than this share of the limit is not worth invalidating the provider's prompt cache. */
const FREED_SHARE_MIN = 0.05
/**
 * Growth of the context, as a share of the limit, before another compaction is tried; prevents compactions in quick
 * succession.
 */
const GROWTH_SHARE_MIN = 0.1

/**
 * Finds the next compaction of a conversation, or null if no compaction is due. Walking forward from the state's point,
 * it is due at the first boundary between turns where the context exceeds the threshold or the trigger. It reads only the messages up to
 * there, so a worker that wakes late finds the same series as one that ran all along (docs/design.md#invariant-5).
 */
export function nextCompaction(
  conversation: Conversation,
  state: CompactionState | null,
  lane: Lane,
  reference: (message: Message) => string,
): CompactionPlan | null {
  if (lane.strategy.planCoverage === undefined) return null
  const { messages } = conversation
  const ends = turnEnds(messages)
  let usage = plannedSummaryTokens(state, lane)
  let at = 0
  for (; state !== null && at < messages.length; at++) {
    const message = messages[at]
    if (!message || comparePositions(message, state.point) > 0) break
    usage += costUnder(message, state)
  }
  let due = Math.max(dueTokens(lane), state === null ? 0 : usage + lane.limitTokens * GROWTH_SHARE_MIN)
  const isCovered = state?.covered != null
  let counted = usage
  for (; at < messages.length; at++) {
    const message = messages[at]
    if (!message) break
    const cost = costUnder(message, state)
    counted += cost
    usage = reportedIn(message, counted, lane) ?? usage + cost
    if (usage < due || !ends[at] || !isCompactionDue(lane, { usage, messages: at + 1, isCovered })) continue
    const plan = planAt(readConversation(messages.slice(0, at + 1)), state, lane, reference, usage)
    if (plan) return plan
    due = usage + lane.limitTokens * GROWTH_SHARE_MIN
  }
  return null
}

/**
 * The effect of a compaction at the end of a conversation, whether or not one is due and however little it frees: for a
 * preview. Null if there is nothing to compact.
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
  const isCompacted = lane.strategy.planCoverage !== undefined
  const plan = isCompacted ? planAt(conversation, state, lane, reference, usage, { freedMin: 1 }) : null
  const isCovered = state?.covered != null
  const size = { usage, messages: conversation.messages.length, isCovered }
  return { plan, usage, isDue: isCompacted && isCompactionDue(lane, size) }
}

/**
 * A compaction on demand, at the last finished turn: it prunes, and summarizes what the strategy covers whatever the size of
 * the context, where a summary is shorter than the messages. Null if there is nothing to compact.
 */
export function planOnDemand(
  { messages }: Conversation,
  state: CompactionState | null,
  lane: Lane,
  reference: (message: Message) => string,
): CompactionPlan | null {
  if (lane.strategy.planCoverage === undefined) return null
  const finished = readConversation(messages.slice(0, turnEnds(messages).lastIndexOf(true) + 1))
  return planAt(finished, state, lane, reference, 0, { freedMin: 1, isOnDemand: true })
}

/**
 * Maximum share of the limit for messages whose pruning was undone; beyond it, the oldest are compacted like any other.
 */
const UNDONE_SHARE_MAX = 0.5

/** The messages that are kept verbatim because their pruning was undone. */
export function heldUndone({ undone }: Pick<Conversation, 'undone'>, lane: Lane): Set<string> {
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

/** @param seen the conversation up to the point of the compaction, read as if nothing followed */
function planAt(
  seen: Conversation,
  state: CompactionState | null,
  lane: Lane,
  reference: (message: Message) => string,
  usage: number,
  {
    freedMin = lane.limitTokens * FREED_SHARE_MIN,
    isOnDemand = false,
  }: { freedMin?: number; isOnDemand?: boolean } = {},
): CompactionPlan | null {
  const pointMessage = seen.messages.at(-1)
  if (!pointMessage) return null
  const { prunings, freedByPruning, keptRaw } = planPrunings(seen, state, lane, reference)
  const isTooMuch =
    usage - freedByPruning > lane.limitTokens * lane.compactTo &&
    lane.strategy.needsCompression(seen.messages, lane.limitTokens, usage)
  const summary =
    isOnDemand || isTooMuch
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

/** The prunings of a compaction at the end of a conversation, and the messages that it keeps raw. */
export function planPrunings(
  seen: Conversation,
  state: CompactionState | null,
  lane: Lane,
  reference: (message: Message) => string,
): { prunings: PlannedPruning[]; freedByPruning: number; keptRaw: Set<string> } {
  const keptRaw = new Set([...seen.keptRaw, ...heldUndone(seen, lane)])
  const visible = seen.messages.filter((message) => !isCovered(message, state))
  const byId = new Map(visible.map((message) => [message.id, message]))
  const prunings = decidePrunings({
    messages: visible,
    pairs: seen.pairs,
    settings: lane.prune,
    ...prunedAmong(visible, state),
    keptRaw,
    reference,
    catalog: toolCatalogOf(lane.tools),
  }).map((decision) => ({ ...decision, tokens: remainingTokens(decision, byId.get(decision.messageId)) }))
  const freedByPruning = prunings.reduce((sum, decision) => {
    const message = byId.get(decision.messageId)
    if (!message) return sum
    const left = decision.action === 'remove' ? 0 : decision.tokens + message.reasoningTokens + overheadTokens(message)
    return sum + costUnder(message, state) - left
  }, 0)
  return { prunings, freedByPruning, keptRaw }
}

/**
 * The messages of `visible` that were pruned before. A state of a long thread lists thousands, of which few are
 * visible.
 */
function prunedAmong(visible: readonly Message[], state: CompactionState | null) {
  const found = visible.flatMap(({ id }) => state?.prunings.get(id) ?? [])
  const condensed = found.filter((pruning) => pruning.action === 'condense' && !keepsText(pruning))
  return {
    alreadyPruned: new Set(found.map(({ messageId }) => messageId)),
    condensed: new Set(condensed.map(({ messageId }) => messageId)),
    condensedCalls: new Map(
      found.flatMap(({ messageId, calls }) =>
        calls === null ? [] : [[messageId, calls.map(({ number }) => number)] as const],
      ),
    ),
  }
}
