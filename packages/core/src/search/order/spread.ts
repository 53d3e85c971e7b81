import { isLater, type Statement } from '../updates/statement.js'

/** Statements that come first: about as many as people look at. */
const SPREAD_MAX = 10
/** The part of the time around a chosen statement in which others lose worth. */
const DISTANCE_MAX = 0.5
/** The share of its worth that a statement loses right beside a chosen one; further away it is less, in proportion. */
const LOSS = 0.5

export interface WorthyStatement {
  readonly index: number
  readonly statement: Statement
  /** Above 0. */
  readonly worth: number
}

/**
 * Chooses statements one after another, each time the one of the most worth, and takes from the worth of those around it
 * (maximal marginal relevance, with nearness in time as likeness). Time is measured in statements, since pauses say little.
 *
 * @returns the indexes of the chosen ones, in the order of choice
 */
export function spread(statements: readonly WorthyStatement[]): number[] {
  const byTime = [...statements].sort(
    (left, right) =>
      Number(isLater(left.statement, right.statement)) - Number(isLater(right.statement, left.statement)) ||
      left.index - right.index,
  )
  const left = new Map(byTime.map(({ index, worth }, place) => [index, { place, worth }]))
  const chosen: number[] = []
  while (chosen.length < SPREAD_MAX && left.size > 0) {
    const [index, { place }] = [...left].reduce((best, each) => (isBetter(each, best) ? each : best))
    chosen.push(index)
    left.delete(index)
    for (const other of left.values()) {
      const distance = Math.abs(other.place - place) / byTime.length
      if (distance < DISTANCE_MAX) other.worth *= 1 - LOSS * (1 - distance / DISTANCE_MAX)
    }
  }
  return chosen
}

type Left = [number, { readonly worth: number }]

/** Of equal worth, the one that was ranked higher. */
function isBetter([index, { worth }]: Left, [best, { worth: most }]: Left): boolean {
  return worth > most || (worth === most && index < best)
}
