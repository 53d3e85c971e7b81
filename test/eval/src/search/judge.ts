import type { Question } from './conversation.js'

/** Results by which a question is judged; the mean reciprocal rank counts 0 for answers past them. */
export const RESULTS = 100

/** How a question was answered. */
export interface Judged {
  readonly agent: string
  readonly question: Question
  /** The positions of its answers among the results, from 0, ascending. */
  readonly places: readonly number[]
  /** Whether the later of two statements was found before the earlier; null for a question without such statements. */
  readonly newerFirst: boolean | null
}

/** @param found the source ids of the results, best first */
export function judged(agent: string, question: Question, found: readonly string[]): Judged {
  const results = found.slice(0, RESULTS)
  const places = results.flatMap((id, place) => (question.evidence.has(id) ? [place] : []))
  return { agent, question, places, newerFirst: newerFirst(question, results) }
}

function newerFirst({ update }: Question, results: readonly string[]): boolean | null {
  if (update === undefined) return null
  const firstOf = (ids: ReadonlySet<string>) => {
    const place = results.findIndex((id) => ids.has(id))
    return place < 0 ? Number.POSITIVE_INFINITY : place
  }
  return firstOf(update.later) < firstOf(update.earlier)
}

export interface Shares {
  readonly any5: number
  readonly any10: number
  readonly recall10: number
  readonly mrr: number
  /** NaN without a question about an update. */
  readonly newer: number
}

export function shares(all: readonly Judged[]): Shares {
  const share = (of: (each: Judged) => number) => all.reduce((sum, each) => sum + of(each), 0) / all.length
  const within = (places: readonly number[], count: number) => places.filter((place) => place < count).length
  const updates = all.filter((each) => each.newerFirst !== null)
  return {
    any5: share(({ places }) => Math.min(1, within(places, 5))),
    any10: share(({ places }) => Math.min(1, within(places, 10))),
    recall10: share(({ question, places }) => within(places, 10) / question.evidence.size),
    mrr: share(({ places: [best] }) => (best === undefined ? 0 : 1 / (best + 1))),
    newer: updates.filter((each) => each.newerFirst === true).length / updates.length,
  }
}
