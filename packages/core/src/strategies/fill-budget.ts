import { isSummarizedInParts } from '../compaction/settle.js'
import { settledSummary } from '../compaction/settled-summary.js'
import { type CompactionState, isCovered } from '../compaction/state.js'
import { summaryTokensMax } from '../compaction/state-costs.js'
import type { Conversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import { comparePositions, positionOf } from '../conversation/order.js'
import { dropOldReasoning } from '../delivery/reasoning.js'
import { chooseBeside, chooseShown, type Shown } from './choose-shown.js'
import { countSummary, type Layout, layOut, reasoningNotes } from './lay-out.js'
import type { ContextStrategy, FittedHistory, HistoryInput } from './strategy.js'

/** Maximum number of layouts tried; each corrects its budget by the error of the previous one. */
const ROUNDS_MAX = 6
/** A history that fills this share of its budget is not laid out again. */
const FILLED_SHARE = 0.985
/** Extra margin by which a layout that was too large is reduced. */
const MARGIN_TOKENS = 16

/**
 * Fills a budget that is smaller than the history. A larger budget shows more.
 *
 * - Beside a published compaction whose rest fits: its summary as it was written, what it condensed as it is, and the newest
 *   turns verbatim, one by one, those that it covers, too.
 * - Otherwise: the first messages, the pinned ones and the latest request stay, then the newest turns verbatim. One summary
 *   covers the others, made for this context: that of the published compaction, if there is one, extended by later messages.
 *
 * The first turn that does not fit whole is shortened to the rest.
 *
 * @returns null if not even the newest turn fits: then the history is fitted as for `cache`
 */
export function fillBudget(strategy: ContextStrategy, input: HistoryInput): FittedHistory | null {
  if (strategy.planCoverage === undefined) return null
  const { conversation, dropped } = dropOldReasoning(
    input.conversation,
    Number.POSITIVE_INFINITY,
    input.isAnswered === true,
  )
  const notes = reasoningNotes(dropped)
  return fillPublished(conversation, input, notes) ?? fillAnew(strategy, conversation, input, notes)
}

function fillPublished(
  conversation: Conversation,
  input: HistoryInput,
  notes: readonly string[],
): FittedHistory | null {
  const published = input.state
  if (published?.covered == null || published.summary === null) return null
  const summaryTokens = countSummary(published.summary, input)
  const layoutIn = (roomTokens: number): Layout | null => {
    const shown = chooseBeside(conversation, published, roomTokens, input)
    const last = conversation.messages.findLast(({ id }) => shown?.ids.has(id) === false)
    // Without a covered message the summary would stand for nothing.
    if (shown === null || last === undefined || published.covered === null) return null
    const covered = { from: published.covered.from, to: positionOf(last) }
    const state = { ...published, covered, prunings: shown.prunings }
    return { conversation, state, leftOut: new Map(), caps: shown.caps }
  }
  return fillRounds(input, notes, { roomTokens: input.roomTokens - summaryTokens, layoutIn })
}

function fillAnew(
  strategy: ContextStrategy,
  conversation: Conversation,
  input: HistoryInput,
  notes: readonly string[],
): FittedHistory | null {
  const rest = new RestSummary(conversation, input)
  const layoutIn = (roomTokens: number): Layout | null => {
    const shown = chooseShown(strategy, conversation, rest.published, roomTokens, input)
    return shown && { conversation, state: rest.stateBeside(shown), leftOut: new Map(), caps: shown.caps }
  }
  const roomTokens = input.roomTokens - rest.tokens
  return fillRounds(input, notes, { roomTokens, layoutIn, lengthen: (tokens) => rest.lengthen(tokens) })
}

interface Filling {
  /** Tokens for the messages, as estimated. */
  readonly roomTokens: number
  /** A layout of messages that are estimated to fit; null without one. */
  layoutIn(roomTokens: number): Layout | null
  /** Uses tokens that no turn fits into. Returns whether that changes anything; by default nothing does. */
  lengthen?(tokens: number): boolean
}

/** Lays out a history with ever better estimates of its tokens, and returns the largest that fits. */
function fillRounds(
  input: HistoryInput,
  notes: readonly string[],
  { roomTokens, layoutIn, lengthen = () => false }: Filling,
): FittedHistory | null {
  let room = roomTokens
  let best: FittedHistory | null = null
  let before: FittedHistory | null = null
  for (let round = 0; round < ROUNDS_MAX && room > 0; round++) {
    const layout = layoutIn(room)
    if (layout === null) break
    const fitted = layOut(layout, input, notes)
    const left = input.roomTokens - fitted.tokens
    if (left >= 0 && (best === null || fitted.tokens > best.tokens)) best = fitted
    if (left >= 0 && fitted.tokens >= input.roomTokens * FILLED_SHARE) break
    const isStuck = fitted.tokens === before?.tokens
    if (isStuck && (left <= 0 || !lengthen(left))) break
    before = fitted
    if (!isStuck) room += left < 0 ? left - MARGIN_TOKENS : left
  }
  return best
}

/** The one summary of the messages that a context does not show. */
class RestSummary {
  /** The compaction in force, if its summary can cover the messages not shown. */
  readonly published: CompactionState | null
  #text: string | null
  /** The messages covered by the text beyond those of the published compaction. */
  #told = new Set<string>()
  #tokensMax: number
  #isLengthened = false
  tokens: number

  constructor(
    private readonly conversation: Conversation,
    private readonly input: HistoryInput,
  ) {
    const { state, lane } = input
    this.#tokensMax = summaryTokensMax(lane)
    this.published = state?.covered && state.summary !== null ? state : null
    this.#text = this.published?.summary ?? null
    this.tokens = this.#text === null ? this.#tokensMax : countSummary(this.#text, input)
  }

  /** The state that covers all messages not shown; null if all are shown. */
  stateBeside({ ids, heldIds, coversUnloaded }: Shown): CompactionState | null {
    const covered = this.conversation.messages.filter(({ id }) => !ids.has(id))
    const [first, last] = [covered[0], covered.at(-1)]
    if (first === undefined || last === undefined) return null
    const added = covered.filter((message) => !isCovered(message, this.published))
    if (this.#text === null || added.some(({ id }) => !this.#told.has(id))) this.#summarize(covered, added)
    const opening = this.published?.covered?.from
    const isOpened = coversUnloaded && opening !== undefined && comparePositions(opening, first) < 0
    const from = isOpened ? opening : positionOf(first)
    return {
      point: positionOf(this.conversation.messages.at(-1) ?? last),
      headSeq: added.length > 0 ? this.input.headSeq : (this.published?.headSeq ?? this.input.headSeq),
      topIds: heldIds,
      covered: { from, to: positionOf(last) },
      summary: this.#text,
      summaryTokens: this.tokens,
      prunings: new Map(),
    }
  }

  /**
   * Lets the summary use tokens that no turn fits into; once, and only if it is made for this context.
   *
   * @returns whether it may be longer now
   */
  lengthen(tokens: number): boolean {
    if (this.#told.size === 0 || this.#isLengthened) return false
    this.#isLengthened = true
    this.#tokensMax = this.tokens + tokens - MARGIN_TOKENS
    this.#told = new Set()
    return true
  }

  #summarize(covered: readonly Message[], added: readonly Message[]): void {
    const { lane, reference } = this.input
    const told = this.published === null ? covered : added
    this.#told = new Set(told.map(({ id }) => id))
    this.#text = settledSummary(told, {
      pairs: this.conversation.pairs,
      before: this.published?.summary ?? null,
      tokensMax: this.#tokensMax,
      tree: isSummarizedInParts(lane, told.length) ? lane.tree : null,
      reference,
    })
    this.tokens = countSummary(this.#text, this.input)
  }
}
