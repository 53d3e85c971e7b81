import { asksForOrder, coverTime } from './order/index.js'
import { asksForValue, findReplacements, newerFirst, type RankedStatement } from './updates/index.js'

/** The first results of a question for a value, among which statements replace each other. */
const COMPARED_FOR_VALUE = 20
/** The first results of a question of order, from which those that cover the time are chosen. */
const COMPARED_FOR_ORDER = 200

/** How many of the first results {@link reorder} needs for a question, with their texts; 0 for most questions. */
export function comparedResults(question: string): number {
  if (asksForOrder(question)) return COMPARED_FOR_ORDER
  return asksForValue(question) ? COMPARED_FOR_VALUE : 0
}

export interface Reordered {
  /** The indexes of the results in their new order. */
  readonly order: readonly number[]
  /** Those that come first because they cover a part of the time. */
  readonly covering: ReadonlySet<number>
  /** For each result the index of the one that replaces it; null for those that hold. */
  readonly replacedBy: readonly (number | null)[]
}

/** Orders the first results of a question by rules on their texts: by time, if the question is about time or a value. */
export function reorder(question: string, results: readonly RankedStatement[]): Reordered {
  const replacements = findReplacements(question, results.slice(0, COMPARED_FOR_VALUE))
  const first = coverTime(question, results)
  const rest = newerFirst(replacements)
  return {
    order: [...new Set([...first, ...rest, ...results.keys()])],
    covering: new Set(first),
    replacedBy: results.map((_, index) => replacements[index]?.[0] ?? null),
  }
}
