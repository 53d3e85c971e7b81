import { settle } from '../compaction/settle.js'
import type { CompactionState } from '../compaction/state.js'
import { costUnder } from '../compaction/state-costs.js'
import type { Conversation } from '../conversation/conversation.js'
import { dropOldReasoning } from '../delivery/reasoning.js'
import { capSizes } from '../history/fit.js'
import { crowdOut, turnsThatMayGo } from './crowd-out.js'
import { fillBudget } from './fill-budget.js'
import { countSummary, layOut, messagesWere, reasoningNotes } from './lay-out.js'
import { leastTokens, leastWithSummary } from './least-history.js'
import type { ContextStrategy, FittedHistory, HistoryInput, TooSmall } from './strategy.js'

/**
 * Maximum number of attempts to bring the rendered history under its budget; each lowers the budget by the previous
 * excess.
 */
const FITTING_ROUNDS_MAX = 4

/**
 * Fits a history into its budget. A history that fits is unchanged. Otherwise old reasoning is dropped first; then the
 * budget is filled, or the history is compacted, as the request says; then single messages are shortened, and finally
 * turns are left out. Every message stays accounted for. It is refused only if not even the smallest history fits, so
 * that a budget larger than one that works always works.
 */
export function fitHistory(strategy: ContextStrategy, input: HistoryInput): FittedHistory | TooSmall {
  const room = input.roomTokens
  const whole = fitWhole(strategy, input)
  if (whole !== null) return whole
  const neededTokens = leastTokens(strategy, input)
  if (neededTokens > room) return { neededTokens }
  const filled = input.fill === 'budget' ? fillBudget(strategy, input) : null
  if (filled !== null) return filled
  let reduced = room
  for (let round = 0; round < FITTING_ROUNDS_MAX && reduced > 0; round++) {
    const attempt = layOutWithin(strategy, input, reduced)
    if (attempt === null) break
    if (attempt.tokens <= room) return attempt
    reduced -= attempt.tokens - room + 16
  }
  return leastWithSummary(strategy, input)
}

/** Maximum ratio of an estimate to the budget for which an exact count is worthwhile. */
const ESTIMATE_OVER_MAX = 1.25

/** The whole history verbatim; null if it exceeds the budget, or a compaction is due before. */
function fitWhole(strategy: ContextStrategy, input: HistoryInput): FittedHistory | null {
  const { conversation, roomTokens, isAnswered = false } = input
  if (strategy.leaveOut !== undefined || !mayBeWhole(strategy, input)) return null
  const { conversation: lean, dropped } = dropOldReasoning(
    conversation,
    costOf(conversation, null) - roomTokens,
    isAnswered,
  )
  if (costOf(lean, null) > roomTokens * ESTIMATE_OVER_MAX) return null
  const layout = { conversation: lean, state: null, leftOut: new Map(), caps: new Map() }
  const fitted = layOut(layout, input, reasoningNotes(dropped))
  return fitted.tokens <= roomTokens ? fitted : null
}

/** Whether the whole history is loaded, and its compactions are not kept for later contexts. */
function mayBeWhole(strategy: ContextStrategy, input: HistoryInput): boolean {
  if (strategy.planCoverage === undefined) return true
  if (input.hasUnloadedCovered) return false
  return input.fill === 'budget' || (input.isLaneKept === false && input.state === null)
}

/** @returns null if turns would have to be left out that must stay */
function layOutWithin(strategy: ContextStrategy, input: HistoryInput, room: number): FittedHistory | null {
  const { state, conversation, notes } = compactedWithin(strategy, input, room)
  const asked = strategy.leaveOut?.(conversation, room) ?? new Map<string, string>()
  const attempt = {
    conversation,
    state,
    leftOut: asked,
    room: room - (state?.summary == null ? 0 : countSummary(state.summary, input)),
  }
  const sized = fitSizes(strategy, input, attempt)
  if (sized === null) return null
  const { leftOut, caps } = sized
  const crowdedOut = leftOut.size - asked.size
  const crowdedNote =
    crowdedOut > 0 ? [`${messagesWere(crowdedOut)} left out: too long for the budget even when shortened`] : []
  return layOut({ conversation, state, leftOut, caps }, input, [...notes, ...crowdedNote])
}

interface Attempt {
  readonly conversation: Conversation
  readonly state: CompactionState | null
  readonly leftOut: ReadonlyMap<string, string>
  readonly room: number
}

/** Shortens messages, and if that is not enough leaves out whole turns, unless the strategy shows all of them. */
function fitSizes(strategy: ContextStrategy, input: HistoryInput, { conversation, state, leftOut, room }: Attempt) {
  const sizes = (without: ReadonlyMap<string, string>) => capSizes(conversation, state, without, room, input)
  const all = sizes(leftOut)
  if (!('neededTokens' in all)) return { leftOut, caps: all.caps }
  const showsAll = strategy.planCoverage === undefined && strategy.leaveOut === undefined
  if (showsAll) return null
  const fits = (without: ReadonlyMap<string, string>) => !('neededTokens' in sizes(without))
  const fewer = crowdOut(turnsThatMayGo(conversation, state, leftOut), leftOut, fits)
  const fitted = fewer && sizes(fewer)
  return fewer === null || fitted === null || 'neededTokens' in fitted ? null : { leftOut: fewer, caps: fitted.caps }
}

interface Compacted {
  readonly conversation: Conversation
  readonly state: CompactionState | null
  readonly notes: readonly string[]
}

/**
 * The published state if it suffices; else the state of the deterministic fallback. Under each, old reasoning is
 * dropped before further compaction.
 */
function compactedWithin(strategy: ContextStrategy, input: HistoryInput, room: number): Compacted {
  const { conversation, state, isStateCurtailed = false, lane, headSeq, reference, isAnswered = false } = input
  const under = (one: CompactionState | null, notes: readonly string[]): Compacted & { readonly fits: boolean } => {
    const over = costOf(conversation, one) - room
    if (over <= 0) return { conversation, state: one, notes, fits: true }
    const { conversation: lean, dropped } = dropOldReasoning(conversation, over, isAnswered)
    const fits = costOf(lean, one) <= room
    return { conversation: lean, state: one, notes: [...notes, ...reasoningNotes(dropped)], fits }
  }
  if (strategy.planCoverage === undefined) return under(null, [])
  const published = state && under(state, [])
  if (published?.fits) return published
  const settled = settle(conversation.messages, isStateCurtailed ? null : state, lane, headSeq, reference)
  const why = isStateCurtailed
    ? 'no published compaction covers only the scope'
    : 'no published compaction fits its budget'
  const fallback = settled !== state ? [`compacted only for this request, with the extractive summary: ${why}`] : []
  const alone = under(settled, fallback)
  if (alone.fits) return alone
  const tighterLane = { ...lane, limitTokens: Math.max(1, room) }
  const tighter = settle(alone.conversation.messages, settled, tighterLane, headSeq, reference)
  const isTighter = tighter !== settled ? ['the history was compacted further to fit beside the other sections'] : []
  return { ...alone, state: tighter, notes: [...alone.notes, ...isTighter] }
}

/** Tokens of a history under a state, its summary included. */
function costOf({ messages }: Conversation, state: CompactionState | null): number {
  return messages.reduce((sum, message) => sum + costUnder(message, state), state?.summaryTokens ?? 0)
}
