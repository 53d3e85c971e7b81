import { termsOf } from './terms/words.js'

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

/** Words of requests about a conversation: they say how to answer, and an answer seldom has them. */
const FRAME_WORDS = `list order bring brought mention item aspect different various conversation discuss discussion chat
  summary summarize comprehensive overview walk throughout across remind recall clear give question`

const termsIn = (words: string) => new Set(words.split(/\s+/).flatMap((word) => [...termsOf(word)]))
const functionTerms = termsIn(FUNCTION_WORDS)
const frameTerms = termsIn(FRAME_WORDS)

/** How many answers a request wants, as in "mention only three items". */
const WANTED_COUNT =
  /\b(?:only|just|exactly)(?: and (?:only|just))? (?:one|two|three|four|five|six|seven|eight|nine|ten|\d{1,2})(?= (?:items?|aspects?|things?|points?|topics?|steps?|examples?|events?)\b)/gi

/** The distinct terms of a query, in order; empty if it has no word. */
export function queryTerms(query: string): string[] {
  const terms = [...new Set(termsOf(query.replace(WANTED_COUNT, ' ')))]
  const telling = terms.filter((term) => !functionTerms.has(term))
  const subjects = telling.filter((term) => !frameTerms.has(term))
  return (subjects.length > 0 ? subjects : telling.length > 0 ? telling : terms).slice(0, QUERY_TERMS_MAX)
}

/** Whether a term is a path, an identifier, a version or a number: it means one thing, where a word has many meanings. */
export function isExactName(term: string): boolean {
  return /[\p{N}._/\\:@#$-]/u.test(term)
}
