import type { EntryMode, ToolCall } from '@heddle/contracts'
import { type CompactionState, isCovered } from '../compaction/state.js'
import type { Message } from '../conversation/message.js'
import { contentWithLines, mayDeliverParts } from '../parts/line.js'
import { elideMiddle } from '../summarizing/sources.js'

/** How one message stands in a context, before it takes a provider's form. */
export interface Fate {
  readonly mode: Extract<EntryMode, 'raw' | 'condensed' | 'stub' | 'elided' | 'removed' | 'covered' | 'left-out'>
  /** What stands for its content. */
  readonly content: string
  readonly reason: string
}

export interface FateOptions {
  /** Largest size in tokens of a message's text per message id; the texts of these messages are elided down to it. */
  readonly caps: ReadonlyMap<string, number>
  readonly count: (text: string) => number
  /** Messages that a strategy left out, with the reason. */
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
    return { mode: pruning.action === 'stub' ? 'stub' : 'condensed', content: pruning.text, reason: pruning.reason }
  }
  const cap = options.caps.get(message.id)
  if (cap !== undefined) {
    return {
      mode: 'elided',
      content: elided(message, cap, options.reference(message), options.count),
      reason: 'too long for the budget',
    }
  }
  const reason = message.pinned ? 'pinned' : message.undone ? UNDONE_REASON : 'recent'
  const content = mayDeliverParts(message.role)
    ? message.content
    : contentWithLines(message, options.reference(message))
  return { mode: 'raw', content, reason }
}

const UNDONE_REASON = 'its pruning was undone'

/** Characters of a text that are worth showing: of less, the mark alone is shown. */
const SHOWN_CHARACTERS_MIN = 40

/**
 * The beginning and end of a message's text, with lines that name its parts, in at most `tokensMax` tokens, with the reference under which the whole can be recalled.
 * The reference is always there, also where it alone takes more.
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
  // Four characters a token are more than most texts have: from there down to what really fits.
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

/** Arguments up to this length stay as they are when their message is elided. */
const ARGUMENT_CHARACTERS_KEPT_MAX = 200

/** Whether a call's arguments are left out when its message is elided. */
export function isElidable(call: ToolCall): boolean {
  const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
  return text.length > ARGUMENT_CHARACTERS_KEPT_MAX
}

/**
 * Stands for arguments that are too long for the budget: still an object, as providers demand.
 *
 * @param reference of the message
 * @param callIndex of the call in it
 */
export function elidedArguments(reference: string, callIndex: number): Record<string, string> {
  return { elided: `[recall:${reference}:tool-${callIndex + 1}]` }
}
