import { queryTerms } from '../search/query.js'
import { rarityOf } from '../search/rank/rank.js'
import { termsOf } from '../search/terms/words.js'
import { findReplacements, newerFirst } from '../search/updates/index.js'
import type { Fact } from './fact.js'
import type { Standing } from './standings.js'

/** Best facts whose order is decided by what replaces what. */
const COMPARED_MAX = 60
/** Conflicts that come right after a fact. */
const CONFLICTS_BESIDE_MAX = 3
/** A word often repeated counts little more than once; a long statement is no better for its length. */
const SATURATION = 1.2
const LENGTH_SHARE = 0.4

/**
 * Facts for a question: those with its rarest words first, the newer of two statements of one value before the older, and after each
 * fact those that it is in conflict with. Facts that share no term with the question are left out.
 */
export function rankFacts(question: string, facts: readonly Fact[], standings: ReadonlyMap<string, Standing>): Fact[] {
  const best = byWords(question, facts)
  const head = best.slice(0, COMPARED_MAX)
  const order = newerFirst(replacedIn(question, head, standings))
  const ordered = [...order.flatMap((index) => head[index] ?? []), ...best.slice(COMPARED_MAX)]
  return statementsFirst(withConflicts(ordered, facts, standings))
}

function byWords(question: string, facts: readonly Fact[]): Fact[] {
  const asked = queryTerms(question)
  const documents = facts.map((fact) => countTerms(`${fact.statement} ${fact.subject}`))
  const mean = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, documents.length)
  const weights = new Map(
    asked.map((term) => {
      const having = documents.filter(({ counts }) => counts.has(term)).length
      return [term, rarityOf(having, { documents: facts.length })]
    }),
  )
  const scored = facts.map((fact, index) => {
    const { counts, length } = documents[index] ?? { counts: new Map(), length: 0 }
    const norm = SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * length) / Math.max(1, mean))
    let score = 0
    for (const [term, weight] of weights) {
      const count = counts.get(term) ?? 0
      score += (weight * count * (SATURATION + 1)) / (count + norm)
    }
    return { fact, score }
  })
  return scored
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score || isNewer(left.fact, right.fact))
    .map(({ fact }) => fact)
}

function countTerms(text: string): { counts: Map<string, number>; length: number } {
  const counts = new Map<string, number>()
  let length = 0
  for (const term of termsOf(text)) {
    counts.set(term, (counts.get(term) ?? 0) + 1)
    length++
  }
  return { counts, length }
}

function isNewer(left: Fact, right: Fact): number {
  return right.validFromMs - left.validFromMs || (left.id < right.id ? 1 : -1)
}

/** By place, the places of the facts that replace it, the latest first: by their keys, and by the words of the question. */
function replacedIn(question: string, facts: readonly Fact[], standings: ReadonlyMap<string, Standing>): number[][] {
  const places = new Map(facts.map(({ id }, index) => [id, index]))
  const statements = facts.map(({ statement, validFromMs }) => ({
    text: statement,
    isOfPerson: true,
    atMs: validFromMs,
    seq: 0,
  }))
  const byStatement = findReplacements(question, statements)
  return facts.map(({ id }, index) => {
    const place = places.get(standings.get(id)?.supersededBy ?? '')
    const newer = new Set([...(place === undefined ? [] : [place]), ...(byStatement[index] ?? [])])
    return [...newer].sort((left, right) => isNewer(facts[left] as Fact, facts[right] as Fact))
  })
}

function withConflicts(
  ordered: readonly Fact[],
  facts: readonly Fact[],
  standings: ReadonlyMap<string, Standing>,
): Fact[] {
  const known = new Map(facts.map((fact) => [fact.id, fact]))
  const shown = new Set<Fact>()
  for (const fact of ordered) {
    shown.add(fact)
    for (const id of standings.get(fact.id)?.conflictsWith.slice(0, CONFLICTS_BESIDE_MAX) ?? []) {
      const other = known.get(id)
      if (other !== undefined) shown.add(other)
    }
  }
  return [...shown]
}

/** The best fact of each statement, then the others: a sentence with many values is one answer. */
function statementsFirst(ordered: readonly Fact[]): Fact[] {
  const seen = new Set<string>()
  const others: Fact[] = []
  const first = ordered.filter((fact) => {
    const key = `${fact.scope} ${fact.validFromMs} ${fact.statement}`
    if (!seen.has(key)) return seen.add(key)
    others.push(fact)
    return false
  })
  return [...first, ...others]
}
