import type { ToolCall } from '@heddle/contracts'
import { areSame } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import type { ToolPairs } from '../conversation/turns.js'
import { summarySources } from '../summarizing/sources.js'
import { summarizeExtractively } from '../summarizing/summarize.js'
import { summarizeByTree } from '../tree/in-memory.js'
import type { TreeShape } from '../tree/leaves.js'

export interface SettledSummaryOptions {
  readonly pairs: ToolPairs
  /** The summary that this one continues, or null. */
  readonly before: string | null
  readonly tokensMax: number
  /** Shape of its tree of parts; null if it is made in one piece. */
  readonly tree: TreeShape | null
  readonly reference: (message: Message) => string
}

/** All inputs of a summary. */
interface Made {
  readonly covered: readonly Message[]
  /** The call that each message answers, if any. */
  readonly calls: readonly (ToolCall | undefined)[]
  readonly options: Omit<SettledSummaryOptions, 'pairs'>
  readonly text: string
}

/** A build may settle twice, and its lane may be one of two. */
const KEPT_MAX = 4

/** Latest summaries by the first message that they cover, garbage-collected with it. */
const kept = new WeakMap<Message, Made[]>()

/**
 * The extractive summary of a covered range. Until the published summary exists, every context of a growing thread
 * needs the same one, so it is cached by its messages.
 */
export function settledSummary(covered: readonly Message[], options: SettledSummaryOptions): string {
  const [first] = covered
  const calls = covered.map(({ id }) => options.pairs.byResult.get(id)?.call)
  const before = (first && kept.get(first)) ?? []
  const known = before.find((made) => isMadeOf(made, covered, calls, options))
  const made = known ?? { covered, calls, options: withoutPairs(options), text: summarize(covered, options) }
  if (first) kept.set(first, [made, ...before.filter((one) => one !== made)].slice(0, KEPT_MAX))
  return made.text
}

function withoutPairs({ pairs: _, ...options }: SettledSummaryOptions): Omit<SettledSummaryOptions, 'pairs'> {
  return options
}

function summarize(covered: readonly Message[], { pairs, before, tokensMax, tree, reference }: SettledSummaryOptions) {
  if (tree !== null) return summarizeByTree(covered, tree, { tokensMax, before, reference })
  const messages = summarySources(covered, pairs, reference)
  return summarizeExtractively({ purpose: 'compaction', messages, previousSummary: before, tokensMax })
}

function isMadeOf(
  made: Made,
  covered: readonly Message[],
  calls: readonly (ToolCall | undefined)[],
  { before, tokensMax, tree, reference }: SettledSummaryOptions,
): boolean {
  const { options } = made
  return (
    options.before === before &&
    options.tokensMax === tokensMax &&
    options.tree?.leafTokens === tree?.leafTokens &&
    options.tree?.fanOut === tree?.fanOut &&
    options.reference === reference &&
    areSame(made.covered, covered) &&
    calls.every((call, index) => made.calls[index] === call)
  )
}
