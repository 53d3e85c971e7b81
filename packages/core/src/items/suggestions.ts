import type { IncludeMode, ItemType } from '@heddle/contracts'

/** What was counted of an item over some contexts. */
export interface ItemFigures {
  readonly type: ItemType
  /** The mode in force. */
  readonly includeMode: IncludeMode
  /** Contexts of the agent since the item was made, whether or not they showed it. */
  readonly contextsSince: number
  /** Contexts that showed it. */
  readonly contexts: number
  /** Of these, those that a reply answered. */
  readonly answered: number
  /** Of these, those whose reply used it. */
  readonly used: number
  /** Threads with a context that showed it because it was added by hand. */
  readonly threadsByHand: number
  /** Threads of the agent with a context. */
  readonly threads: number
}

export interface ItemSuggestion {
  readonly action: 'drop' | IncludeMode
  readonly reason: string
}

/** Fewer contexts say nothing. */
const CONTEXTS_MIN = 20
/** An item that replies use this seldom, or more seldom, is better selected where it is wanted. */
const SELDOM_USED = 0.1
/** An item that this part of the contexts shows, and of whose replies this part uses it, might as well be always there. */
const MOSTLY_SHOWN = 0.8
const MOSTLY_USED = 0.5
/** What people add by hand to this many threads, and to half of all, they want always. */
const THREADS_BY_HAND_MIN = 5
const THREADS_BY_HAND = 0.5

/**
 * What to do about an item, as far as the figures say: `drop` what is never used, select (`agent`) what is always there and
 * seldom used, make `always` what is nearly always there and used, or chosen by hand again and again.
 *
 * A rule that is never seen to be used may still be obeyed, so the reason says what was counted, and people decide.
 */
export function suggestionFor(figures: ItemFigures): ItemSuggestion | null {
  const { type, includeMode, contextsSince, contexts, answered, used, threadsByHand, threads } = figures
  if (threadsByHand >= THREADS_BY_HAND_MIN && threadsByHand >= threads * THREADS_BY_HAND && includeMode !== 'always')
    return { action: 'always', reason: `added by hand to ${threadsByHand} of ${threads} threads` }
  if (contexts === 0) {
    if (contextsSince < CONTEXTS_MIN || includeMode === 'manual') return null
    return { action: 'drop', reason: `in none of the ${contextsSince} contexts since it was made` }
  }
  if (answered < CONTEXTS_MIN) return null
  if (used === 0) {
    const perhaps = type === 'tool' ? '' : '; a rule may be followed without a trace'
    return { action: 'drop', reason: `none of the ${answered} replies used it${perhaps}` }
  }
  if (includeMode === 'agent') {
    if (contexts < contextsSince * MOSTLY_SHOWN || used < answered * MOSTLY_USED) return null
    return {
      action: 'always',
      reason: `selected for ${contexts} of ${contextsSince} contexts, used by ${used} of ${answered} replies`,
    }
  }
  if (used > answered * SELDOM_USED) return null
  return { action: 'agent', reason: `${used} of ${answered} replies used it` }
}
