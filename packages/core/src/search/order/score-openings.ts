import { coverage } from '../rank/thread-documents.js'
import type { OpeningStatement } from './opening-statement.js'
import { type AskedTerm, relatedNames } from './related-names.js'

/** Letters that words of one family have in common, such as "combinations" and "combinatorial". */
const FAMILY_LETTERS = 6
const FAMILY_WEIGHT = 0.6
/** People say in their first words what a message is about: the word after this many counts half of the first one. */
const HALF_WORDS = 32
/** The part of its score that a statement keeps if it has a related name, but no term of the question. */
const NAME_ALONE_WEIGHT = 0.7

/** Scores statements by their words of the question, the rarer the better, by the family of those, and by related names. */
export function scoreBy(
  terms: readonly string[],
  statements: readonly OpeningStatement[],
): (statement: OpeningStatement) => number {
  const holders = new Map<string, number>()
  for (const { positions } of statements) {
    for (const term of positions.keys()) holders.set(term, (holders.get(term) ?? 0) + 1)
  }
  const rarityOf = (term: string) => Math.max(0, Math.log((statements.length + 1) / ((holders.get(term) ?? 0) + 0.5)))
  const asked: AskedTerm[] = terms.map((term) => ({
    term,
    rarity: rarityOf(term),
    family: new Set([...holders.keys()].filter((other) => isOfFamily(term, other))),
  }))
  const all = asked.reduce((sum, { rarity }) => sum + rarity, 0)
  const names = [...relatedNames(asked, statements)].map(([name, share]) => ({ name, weight: share * rarityOf(name) }))
  return ({ positions }) => {
    let [sum, share] = [0, 0]
    for (const each of asked) {
      const weight = weightIn(positions, each)
      sum += weight * each.rarity
      share += weight > 0 ? each.rarity : 0
    }
    for (const { name, weight } of names) sum += weight * weightOfPlace(positions.get(name))
    return all === 0 ? 0 : sum * (share > 0 ? coverage(share / all) : NAME_ALONE_WEIGHT)
  }
}

function weightIn(positions: OpeningStatement['positions'], { term, family }: AskedTerm): number {
  const own = weightOfPlace(positions.get(term))
  if (own > 0) return own
  return [...family].reduce((most, other) => Math.max(most, FAMILY_WEIGHT * weightOfPlace(positions.get(other))), 0)
}

function weightOfPlace(place: number | undefined): number {
  return place === undefined ? 0 : 1 / (1 + place / HALF_WORDS)
}

function isOfFamily(term: string, other: string): boolean {
  return term !== other && WORD.test(other) && term.slice(0, FAMILY_LETTERS) === other.slice(0, FAMILY_LETTERS)
}

const WORD = /^[a-z]{6,}$/
