import type { EntryMode } from '@heddle/contracts'
import { type CompactionState, isCovered, keepsText } from '../compaction/state.js'
import { type CondensedCall, elidedInput } from '../conversation/calls.js'
import type { Message } from '../conversation/message.js'
import { comparePositions } from '../conversation/order.js'
import { contentWithLines, mayDeliverParts } from '../parts/line.js'
import { elideMiddle } from '../summarizing/sources.js'

/** How one message appears in a context, before it is rendered for a provider. */
export interface Fate {
  readonly mode: Extract<EntryMode, 'raw' | 'condensed' | 'stub' | 'elided' | 'removed' | 'covered' | 'left-out'>
  /** Its content in the context. */
  readonly content: string
  /** Its calls whose inputs a compaction replaced. */
  readonly calls?: readonly CondensedCall[]
  readonly reason: string
}

export interface FateOptions {
  /** Maximum tokens of a message's text, by message id; these texts are elided to fit. */
  readonly caps: ReadonlyMap<string, number>
  readonly count: (text: string) => number
  /** Reasons of the messages that a strategy left out. */
  readonly leftOut: ReadonlyMap<string, string>
  readonly reference: (message: Message) => string
}

export function fateOf(message: Message, state: CompactionState | null, options: FateOptions): Fate {
  const leftOut = options.leftOut.get(message.id)
  if (leftOut !== undefined) return { mode: 'left-out', content: '', reason: leftOut }
  if (isCovered(message, state)) return { mode: 'covered', content: '', reason: 'summarized' }
  const pruning = state?.prunings.get(message.id)
  if (pruning?.action === 'remove') return { mode: 'removed', content: '', reason: pruning.reason }
  if (pruning) {
    const mode = pruning.action === 'stub' ? 'stub' : 'condensed'
    const content = keepsText(pruning) ? ownText(message, options) : pruning.text
    return { mode, content, ...(pruning.calls !== null && { calls: pruning.calls }), reason: pruning.reason }
  }
  const cap = options.caps.get(message.id)
  if (cap !== undefined) {
    return {
      mode: 'elided',
      content: elided(message, cap, options.reference(message), options.count),
      reason: 'too long for the budget',
    }
  }
  return { mode: 'raw', content: ownText(message, options), reason: reasonToKeep(message, state) }
}

/** Why a context shows a message as it is. */
function reasonToKeep(message: Message, state: CompactionState | null): string {
  if (message.pinned) return 'pinned'
  if (message.undone) return UNDONE_REASON
  if (state?.covered == null) return 'recent'
  if (comparePositions(message, state.covered.from) < 0) return 'first messages'
  return comparePositions(message, state.covered.to) < 0 ? 'not part of the summary' : 'recent'
}

function ownText(message: Message, { reference }: FateOptions): string {
  return mayDeliverParts(message.role) ? message.content : contentWithLines(message, reference(message))
}

const UNDONE_REASON = 'its pruning was undone'

/** Minimum number of characters worth showing; below it, only the mark is shown. */
const SHOWN_CHARACTERS_MIN = 40

/**
 * The beginning and end of a message's text, with lines that name its parts and the reference for recall, in at most
 * `tokensMax` tokens. The reference is always included, even if it alone exceeds them.
 */
export function elided(
  message: Message,
  tokensMax: number,
  reference: string,
  count: (text: string) => number,
): string {
  const mark = elisionMark(message, reference)
  const room = tokensMax - count(mark) - 1
  const text = contentWithLines(message, reference)
  // Four characters per token is more than most texts have: start there, and reduce to what fits.
  let characters = Math.min(text.length, room * 4)
  while (characters >= SHOWN_CHARACTERS_MIN) {
    const shown = elideMiddle(text, characters)
    const tokens = count(shown)
    if (tokens <= room) return `${shown}\n${mark}`
    characters = Math.floor(Math.min(characters * 0.95, characters * (room / tokens)))
  }
  return mark
}

export function elisionMark(message: Message, reference: string): string {
  return `[… ${message.tokens} tokens in all, [recall:${reference}] …]`
}

/**
 * Replaces arguments that are too long for the budget.
 *
 * @param reference of the message
 * @param callIndex of the call in it
 */
export function elidedArguments(reference: string, callIndex: number): Record<string, string> {
  return elidedInput(`[recall:${reference}:tool-${callIndex + 1}]`)
}
