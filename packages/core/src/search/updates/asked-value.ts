import { queryTerms } from '../query.js'
import { termsOf } from '../terms/words.js'

/** The value that a question is about, as it is now. */
export interface AskedValue {
  /** Of "how many project cards": the terms of both; empty if the question counts nothing. */
  readonly counted: ReadonlySet<string>
  readonly isDate: boolean
  /** The terms of the question's subject, without `counted`. */
  readonly subject: ReadonlySet<string>
}

/** Questions about the past, or about the time between two events: an older value may be the answer. */
const ABOUT_THE_PAST =
  /\b(?:did|was|were|had|ago|between|passed|apart|elapsed|original(?:ly)?|initial(?:ly)?|previous(?:ly)?|earlier|earliest|formerly|used to|at first|as of|back then|chang(?:e|ed|es)|history|over time|evolved?|in order|the order)\b/i
const COUNT = /\bhow (?:many|much) ((?:[\w'’/%-]+ ){1,6})/i
/** Ends the words that say what is counted. */
const VERB =
  /\b(?:is|are|am|do|does|have|has|can|could|will|would|should|must|may|might|i|we|you|they|he|she|it|there|in|on|of|for|at|to|per|and|or)\b/i
const VALUE =
  /\b(?:what|which)\b[^.?!]{0,80}\b(?:accuracy|age|allowance|amount|average|balance|bandwidth|budget|capacity|charge|cost|count|coverage|distance|duration|fee|goal|grade|height|hours|income|latency|length|level|limit|maximum|minimum|number|pace|percent(?:age)?|population|price|quota|range|rank(?:ing)?|rate|rating|ratio|rent|salary|savings|score|share|size|speed|steps|target|temperature|threshold|throughput|time|timeout|total|usage|value|version|volume|weight|width|yield)\b|\bhow (?:old|long|often|far|big|large|fast|tall|high|heavy)\b/i
const DATE = /\bwhen\b|\b(?:deadlines?|due dates?|(?:what|which) (?:dates?|days?|time))\b/i

/** The value as it is now that a question asks for; null for any other question. */
export function askedValue(question: string): AskedValue | null {
  if (ABOUT_THE_PAST.test(question)) return null
  const count = COUNT.exec(question)?.[1]
  const isDate = count === undefined && DATE.test(question)
  if (count === undefined && !isDate && !VALUE.test(question)) return null
  const ofCount = count === undefined ? [] : queryTerms(count.split(VERB, 1)[0] ?? '')
  const counted = new Set(ofCount.filter((term) => !QUANTIFIERS.has(term)))
  const subject = new Set(queryTerms(question).filter((term) => !counted.has(term) && !QUANTIFIERS.has(term)))
  return { counted, isDate, subject }
}

/** Words beside what is counted, which say nothing about it. */
const QUANTIFIERS = new Set(termsOf('total different distinct overall many much current currently now'))

/** Whether results of a question can replace each other: see {@link askedValue}. */
export function asksForValue(question: string): boolean {
  return askedValue(question) !== null
}
