import { functionWords, rarityOf, termsOf } from '../search/index.js'

const commonTerms = new Set([...functionWords].flatMap((word) => [...termsOf(word)]))

/**
 * The share of a query's words that each text has, from 0 to 1. A word counts the more the fewer of the texts have it, as in
 * BM25: a name that one item has decides, one that all items have does not.
 */
export function wordScores(query: string, texts: readonly string[]): number[] {
  const asked = [...new Set(termsOf(query))].filter((term) => !commonTerms.has(term))
  const owned = texts.map((text) => new Set(termsOf(text)))
  const weights = asked.map((term) => {
    const owners = owned.filter((terms) => terms.has(term)).length
    return rarityOf(owners, { documents: texts.length })
  })
  const whole = weights.reduce((sum, weight) => sum + weight, 0)
  if (whole === 0) return texts.map(() => 0)
  return owned.map(
    (terms) => asked.reduce((sum, term, at) => sum + (terms.has(term) ? (weights[at] ?? 0) : 0), 0) / whole,
  )
}

/** A score by vectors, raised by the words that the item shares with the query: neither needs the other. */
export function hybridScore(vectorScore: number, wordScore: number, wordShare: number): number {
  return vectorScore + (1 - vectorScore) * wordShare * wordScore
}
