import type { EntryMode } from '@heddle/contracts'
import { elideMiddle } from '../compaction/sources.js'
import { type CompactionState, isCovered } from '../compaction/state.js'
import type { Message } from '../message.js'

/** How one message stands in a context, before it takes a provider's form. */
export interface Fate {
  readonly mode: Extract<EntryMode, 'raw' | 'condensed' | 'stub' | 'elided' | 'removed' | 'covered' | 'left-out'>
  /** What stands for its content. */
  readonly content: string
  readonly reason: string
}

export interface FateOptions {
  /** Largest size in tokens per message id; longer messages are elided down to it. */
  readonly caps: ReadonlyMap<string, number>
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
      content: elided(message, cap, options.reference(message)),
      reason: 'too long for the budget',
    }
  }
  const reason = message.pinned ? 'pinned' : message.undone ? UNDONE_REASON : 'recent'
  return { mode: 'raw', content: message.content, reason }
}

const UNDONE_REASON = 'its pruning was undone'

/** The beginning and end of a text in about `tokensMax` tokens, with the reference under which the whole can be recalled. */
export function elided(message: Message, tokensMax: number, reference: string): string {
  const charactersPerToken = message.content.length / Math.max(1, message.tokens)
  const mark = `[… ${message.tokens} tokens in all, [recall:${reference}] …]`
  const room = Math.floor((tokensMax - 24) * Math.min(charactersPerToken, 3.5))
  if (room < 40) return mark
  return `${elideMiddle(message.content, room)}\n${mark}`
}

/** Arguments that are too long for the budget: still an object, as providers demand. */
export function elidedArguments(reference: string): Record<string, string> {
  return { elided: `[recall:${reference}]` }
}
