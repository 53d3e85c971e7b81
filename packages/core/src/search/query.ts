import { termsOf } from './words.js'

/** Distinct terms that a query may have; further ones are left out. */
export const QUERY_TERMS_MAX = 64

/**
 * Words that hold English sentences together. They stand in most texts, so they say next to nothing about one; a query of
 * nothing else is taken as it is.
 */
const FUNCTION_WORDS = `a about after all also am an and any are as at be because been before being but by can could did do
  does doing done for from had has have having he her hers him his how i if in into is it its just me might more most my no
  nor not of off on or our ours out over own she should so some such than that the their theirs them then there these they
  this those through to too under up us very was we were what when where which while who whom whose why will with would you
  your yours`

const functionTerms = new Set(FUNCTION_WORDS.split(/\s+/).flatMap((word) => [...termsOf(word)]))

/** The distinct terms that a query looks for, in its order; none where it holds no word. */
export function queryTerms(query: string): string[] {
  const terms = [...new Set(termsOf(query))]
  const telling = terms.filter((term) => !functionTerms.has(term))
  return (telling.length === 0 ? terms : telling).slice(0, QUERY_TERMS_MAX)
}
