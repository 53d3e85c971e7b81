import { isoDate, namedDates, yearlessDate } from '../dates/named-dates.js'
import { kindTerm, speakerTerm } from './document.js'
import { isExactName, queryTerms } from './query.js'
import { dateTerm } from './terms/date-terms.js'
import { otherSpellings } from './terms/spellings.js'
import { asksForTime } from './terms/time-words.js'
import type { FoundTerm, WordQuery, WordWeights } from './word-query.js'

/** A query as the rankings by words need it. */
export interface SearchQuery {
  readonly text: string
  /** Its words, without those that say little; excerpts show these. */
  readonly terms: readonly string[]
  /** The same in other spellings, and the dates that it names: each counts only if the scope has it. */
  readonly others: readonly string[]
  readonly asksForTime: boolean
}

/** @param nowMs the time from which "yesterday" counts; null for queries without a time */
export function searchQuery(text: string, nowMs: number | null): SearchQuery {
  const terms = queryTerms(text)
  const dates = namedDates(text, nowMs).flatMap((date) => {
    const named = isoDate(date) ?? yearlessDate(date)
    return named === null ? [] : [dateTerm(named)]
  })
  const others = [...new Set([...otherSpellings(text), ...dates])].filter((term) => !terms.includes(term))
  return { text, terms, others, asksForTime: asksForTime(text) }
}

/** The messages that a model may have written. */
const REPLIES = kindTerm('assistant')

/** The terms whose postings {@link wordQuery} needs. */
export function postedTerms({ terms, others }: SearchQuery): string[] {
  return [...terms, ...others, ...terms.map(speakerTerm), REPLIES]
}

/** The postings of a scope for a query, and the parameters of their ranking. */
interface Found extends Pick<WordQuery, 'only' | 'scope' | 'threadLengths' | 'weights'> {
  /** The postings of a term; empty if the scope lacks the term. */
  readonly listsOf: (term: string) => readonly Uint8Array[]
}

export function wordQuery(query: SearchQuery, { listsOf, ...found }: Found): Omit<WordQuery, 'limit'> {
  const { terms, others } = query
  return {
    ...found,
    terms: [
      ...terms.map((term) => foundTerm(term, { listsOf, weights: found.weights })),
      ...others
        .map((term) => ({ term, lists: listsOf(term), speakers: [], weight: OTHER_WEIGHT }))
        .filter(({ lists }) => lists.length > 0),
    ],
    replies: listsOf(REPLIES),
    asksForTime: query.asksForTime,
  }
}

/** Of a word in another spelling, which may mean something else. */
const OTHER_WEIGHT = 0.6

/** Of a speaker's name: people say the name of the other one, and the speaker counts anyway. */
const SPEAKER_WEIGHT = 0.6

function foundTerm(term: string, { listsOf, weights }: { listsOf: Found['listsOf']; weights: WordWeights }): FoundTerm {
  const speakers = listsOf(speakerTerm(term))
  const weight = isExactName(term) ? weights.names : 1
  return { term, lists: listsOf(term), speakers, weight: speakers.length > 0 ? SPEAKER_WEIGHT * weight : weight }
}

/** The share of the query's words that no message of the scope has, from 0 to 1. */
export function unknownShare({ terms }: SearchQuery, listsOf: Found['listsOf']): number {
  return terms.length === 0 ? 1 : terms.filter((term) => listsOf(term).length === 0).length / terms.length
}
