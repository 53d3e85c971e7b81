import type { OpeningStatement } from './opening-statement.js'

/** Words between a term of the question and a name that belongs to it: "my new academic mentor, Robert". */
const DISTANCE_MAX = 6
/** A name of fewer statements finds no others, and one of more is everywhere. */
const STATEMENTS_MIN = 2
const STATEMENTS_SHARE_MAX = 0.3
/** Of the statements with a term of the question, weighed by its rarity, a name is beside it in this share or more. */
const SHARE_MIN = 0.25
const NAMES_MAX = 5

export interface AskedTerm {
  readonly term: string
  /** From 0; the rarer, the higher. */
  readonly rarity: number
  /** Other terms that count as this one. */
  readonly family: ReadonlySet<string>
}

/**
 * Names that stand for a term of the question: once "my mentor, Robert" was said, statements about the mentor say
 * "Robert".
 *
 * @returns the names' terms with how sure they are, from 0 to 1
 */
export function relatedNames(
  asked: readonly AskedTerm[],
  statements: readonly OpeningStatement[],
): ReadonlyMap<string, number> {
  const holders = new Map<string, number>()
  for (const { names } of statements) {
    for (const name of new Set(names.values())) holders.set(name, (holders.get(name) ?? 0) + 1)
  }
  const isTelling = (name: string) => {
    const count = holders.get(name) ?? 0
    return count >= STATEMENTS_MIN && count <= STATEMENTS_SHARE_MAX * statements.length
  }
  const askedTerms = new Set(asked.map(({ term }) => term))
  const found = new Map<string, number>()
  for (const each of asked) {
    const beside = statements.flatMap((statement) => {
      const places = placesOf(each, statement)
      return places.length === 0 ? [] : [namesBeside(places, statement)]
    })
    const rarity = Math.min(1, each.rarity / Math.log(statements.length))
    for (const name of new Set(beside.flatMap((names) => [...names]))) {
      if (askedTerms.has(name) || !isTelling(name)) continue
      const share = (beside.filter((names) => names.has(name)).length / beside.length) * rarity
      if (share >= SHARE_MIN) found.set(name, Math.max(share, found.get(name) ?? 0))
    }
  }
  return new Map([...found].sort(([, left], [, right]) => right - left).slice(0, NAMES_MAX))
}

function placesOf({ term, family }: AskedTerm, { words }: OpeningStatement): number[] {
  return words.flatMap((terms, place) => (terms.some((each) => each === term || family.has(each)) ? [place] : []))
}

function namesBeside(places: readonly number[], { names }: OpeningStatement): ReadonlySet<string> {
  const beside = new Set<string>()
  for (const [place, name] of names) {
    if (places.some((of) => Math.abs(of - place) <= DISTANCE_MAX)) beside.add(name)
  }
  return beside
}
