import { termsOf } from './words.js'

/** Distinct terms per query; further ones are ignored. */
export const QUERY_TERMS_MAX = 64

/**
 * English function words. They occur in most texts, so they do not discriminate; a query of function words only is used
 * unchanged.
 */
const FUNCTION_WORDS = `a about after all also am an and any are as at be because been before being but by can could did do
  does doing done for from had has have having he her hers him his how i if in into is it its just me might more most my no
  nor not of off on or our ours out over own she should so some such than that the their theirs them then there these they
  this those through to too under up us very was we were what when where which while who whom whose why will with would you
  your yours`

const functionTerms = new Set(FUNCTION_WORDS.split(/\s+/).flatMap((word) => [...termsOf(word)]))

/** The distinct terms of a query, in order; empty if it has no word. */
export function queryTerms(query: string): string[] {
  const terms = [...new Set(termsOf(query))]
  const telling = terms.filter((term) => !functionTerms.has(term))
  return (telling.length === 0 ? terms : telling).slice(0, QUERY_TERMS_MAX)
}
