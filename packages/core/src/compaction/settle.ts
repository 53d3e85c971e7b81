import { areSame, readConversation } from '../conversation/conversation.js'
import { ineligibleReason } from '../conversation/eligibility.js'
import type { Message } from '../conversation/message.js'
import { comparePositions, inConversationOrder } from '../conversation/order.js'
import { countTokens } from '../tokens/tokens.js'
import type { Lane } from './lane.js'
import { type CompactionPlan, nextCompaction } from './plan.js'
import { toPruning } from './remaining.js'
import { settledSummary } from './settled-summary.js'
import { type CompactionState, isCovered, type Pruning } from './state.js'
import { summaryTokensMax } from './state-costs.js'

/** Maximum number of messages for one summary; a longer range is summarized in parts. */
export const SUMMARIZED_MESSAGES_MAX = 2_000

/** Whether the summary of `messages` messages is made hierarchically, from parts that keep their own summaries. */
export function isSummarizedInParts({ strategy }: Lane, messages: number): boolean {
  return strategy.summaryParts === 'always' || messages > SUMMARIZED_MESSAGES_MAX
}

/** Messages read while searching for the next compaction; doubled while no compaction is found. */
const LOOK_AHEAD_MESSAGES = 512

/** The state after a plan. If its range grew, it has no summary yet. */
export function stateAfter(plan: CompactionPlan, before: CompactionState | null, headSeq: number): CompactionState {
  return stateWith(new Map(before?.prunings), plan, before, headSeq)
}

/** @param prunings those in force before; the plan's are added to them */
function stateWith(
  prunings: Map<string, Pruning>,
  plan: CompactionPlan,
  before: CompactionState | null,
  headSeq: number,
): CompactionState {
  for (const planned of plan.prunings) {
    prunings.set(planned.messageId, toPruning(planned))
  }
  return {
    point: plan.point,
    headSeq,
    topIds: plan.topIds,
    covered: plan.covered,
    summary: plan.needsSummary ? null : (before?.summary ?? null),
    summaryTokens: plan.needsSummary ? 0 : (before?.summaryTokens ?? 0),
    prunings,
  }
}

/** The settled state of a list of messages, with the options it was settled under. */
interface Settled {
  readonly messages: readonly Message[]
  readonly start: CompactionState | null
  readonly lane: Lane
  readonly headSeq: number
  readonly reference: (message: Message) => string
  readonly state: CompactionState | null
}

/** Two lanes of one thread, each also with the lower limit that other sections may require. */
const KEPT_MAX = 4

/** Latest results by the list of messages, garbage-collected with the list. */
const kept = new WeakMap<readonly Message[], Settled[]>()

/**
 * Compacts a conversation to its end in memory, with an extractive summary: the result that the pipeline reaches
 * without a model. Used when no state exists for a request (docs/design.md#the-deterministic-fallback). Takes time
 * linear in the number of messages; a repeated call with the same list returns the earlier result.
 *
 * @param messages of one thread; they may include those that `start` covers
 */
export function settle(
  messages: readonly Message[],
  start: CompactionState | null,
  lane: Lane,
  headSeq: number,
  reference: (message: Message) => string,
): CompactionState | null {
  const before = kept.get(messages) ?? []
  const known = before.find(
    (one) => isOf(one, start, lane, reference) && one.headSeq === headSeq && areSame(one.messages, messages),
  )
  if (known !== undefined) return known.state
  const state = settleAnew(messages, start, lane, headSeq, reference)
  kept.set(
    messages,
    [{ messages: [...messages], start, lane, headSeq, reference, state }, ...before].slice(0, KEPT_MAX),
  )
  return state
}

function settleAnew(
  messages: readonly Message[],
  start: CompactionState | null,
  lane: Lane,
  headSeq: number,
  reference: (message: Message) => string,
): CompactionState | null {
  const state = settledPlans(messages, start, lane, headSeq, reference)
  if (state?.covered == null || state.summary !== null) return state
  const conversation = readConversation(messages)
  const covered = conversation.messages.filter((message) => isCovered(message, state))
  const tokensMax = summaryTokensMax(lane)
  const text = settledSummary(covered, {
    pairs: conversation.pairs,
    before: start?.summary ?? null,
    tokensMax,
    tree: isSummarizedInParts(lane, covered.length) ? lane.tree : null,
    reference,
  })
  return { ...state, summary: text, summaryTokens: countTokens(text) }
}

/** The compactions of a list that may grow. */
type Series = Omit<Settled, 'headSeq'>

/** Latest series by the first message, garbage-collected with it. */
const series = new WeakMap<Message, Series[]>()

/**
 * All compactions of a conversation, in order. Those of a list that has only grown at its end since the last call are
 * continued: compactions depend on earlier messages alone, so they are those of the whole list.
 */
function settledPlans(
  messages: readonly Message[],
  start: CompactionState | null,
  lane: Lane,
  headSeq: number,
  reference: (message: Message) => string,
): CompactionState | null {
  const ordered = inConversationOrder(messages.filter((message) => ineligibleReason(message) === null))
  const [first] = ordered
  if (first === undefined) return start
  const before = series.get(first) ?? []
  const known = before.find((one) => isOf(one, start, lane, reference) && isPrefix(one.messages, ordered))
  const left = known === undefined ? ordered : ordered.filter((message) => !isCovered(message, known.state))
  const settled = plansFrom(left, known === undefined ? start : known.state, lane, headSeq, reference)
  const state = settled === null || settled === start ? settled : { ...settled, headSeq }
  const latest = { messages: ordered, start, lane, reference, state }
  series.set(first, [latest, ...before.filter((one) => one !== known)].slice(0, KEPT_MAX))
  return state
}

function isOf(
  one: Series,
  start: CompactionState | null,
  lane: Lane,
  reference: (message: Message) => string,
): boolean {
  const isLane = one.lane.key === lane.key && one.lane.limitTokens === lane.limitTokens
  return one.start === start && isLane && one.reference === reference
}

function isPrefix(prefix: readonly Message[], messages: readonly Message[]): boolean {
  return prefix.length <= messages.length && prefix.every((message, index) => message === messages[index])
}

/**
 * The compactions that follow a state; each one reads only what the earlier ones left.
 *
 * @param ordered eligible messages in the order of the conversation
 */
function plansFrom(
  ordered: readonly Message[],
  start: CompactionState | null,
  lane: Lane,
  headSeq: number,
  reference: (message: Message) => string,
): CompactionState | null {
  let state = start
  // Intermediate states are discarded, so they share one map: copying it for each would take quadratic time.
  const prunings = new Map(start?.prunings)
  let left: Message[] = []
  let next = 0
  let lookAhead = LOOK_AHEAD_MESSAGES
  for (;;) {
    const window = [...left, ...ordered.slice(next, next + lookAhead)]
    const conversation = readConversation(window)
    const plan = nextCompaction(conversation, state, lane, reference)
    if (plan) {
      const after = stateWith(prunings, plan, state, headSeq)
      const seen = window.filter((message) => comparePositions(message, plan.point) <= 0)
      next += seen.length - left.length
      left = seen.filter((message) => !isCovered(message, after))
      state = after
      lookAhead = LOOK_AHEAD_MESSAGES
    } else if (next + lookAhead >= ordered.length) return state
    else lookAhead *= 2
  }
}
