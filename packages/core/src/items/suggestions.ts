import type { IncludeMode, ItemType } from '@heddle/contracts'

/** Usage counts of an item over some contexts. */
export interface ItemFigures {
  readonly type: ItemType
  /** The effective mode. */
  readonly includeMode: IncludeMode
  /** Contexts of the agent since the item was created, whether or not they showed it. */
  readonly contextsSince: number
  /** Contexts that showed it. */
  readonly contexts: number
  /** Contexts that showed it and were answered by a reply. */
  readonly answered: number
  /** Contexts that showed it and whose reply used it. */
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

/** Fewer contexts are not conclusive. */
const CONTEXTS_MIN = 20
/** At or below this share of uses, an item is better selected on demand. */
const SELDOM_USED = 0.1
/** An item shown by at least this share of contexts, and used by this share of replies, can be included always. */
const MOSTLY_SHOWN = 0.8
const MOSTLY_USED = 0.5
/** An item added by hand to this many threads, and to half of all threads, is wanted always. */
const THREADS_BY_HAND_MIN = 5
const THREADS_BY_HAND = 0.5

/**
 * The suggestion for an item according to its counts: `drop` for never used, selection (`agent`) for always included
 * and seldom used, `always` for nearly always included and used, or repeatedly added by hand.
 *
 * A rule may be obeyed without visible use, so the reason states the counts, and people decide.
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
