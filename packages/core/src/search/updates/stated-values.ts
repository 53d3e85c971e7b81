import { functionWords } from '../terms/function-words.js'
import { termsOf } from '../terms/words.js'
import { proseOf } from './statement.js'

/** A number or a date in a text. */
export interface StatedValue {
  readonly value: string
  /** Where it is in the text without blocks of code. */
  readonly from: number
  readonly to: number
  /** Whether the statement says that it no longer holds: "from 3". */
  readonly isOld: boolean
  readonly isDate: boolean
  /** The terms of the words after a number, such as "commits" of "150 merged commits"; a sign such as "%" or "ms" itself. */
  readonly units: ReadonlySet<string>
  /** Whether nothing is said after it that it could count: "has reached 165, and". */
  readonly isBare: boolean
  /** The terms around it, within its sentence. */
  readonly around: ReadonlySet<string>
  /** Whether it is said to be new: see {@link SAYS_NEW}. */
  readonly isNew: boolean
}

/** Values of one text that are read. */
const VALUES_MAX = 60
/** Characters before and after a value that say what it is about. */
const BEFORE_CHARACTERS = 130
const AFTER_CHARACTERS = 90
const UNIT_WORDS_MAX = 3

const MONTH = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\\.?'
const DATE = `(?:19|20)\\d\\d-\\d\\d-\\d\\d|${MONTH} \\d{1,2}(?:st|nd|rd|th)?(?!\\d)(?:,? (?:19|20)\\d\\d)?|\\d{1,2}(?:st|nd|rd|th)? (?:of )?${MONTH}(?![a-z])(?:,? (?:19|20)\\d\\d)?`
const NUMBER = '[$€£]?\\d{1,12}(?:[.,]\\d{1,6}){0,4}'
const WORD = 'two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|hundred'
const VALUE = new RegExp(`(?<![\\w.\\/#-])(?:(${DATE})|(${NUMBER})(\\s?%|[a-z]{1,3}\\b)?|\\b(${WORD})\\b)`, 'gi')

/** Words of a statement that replaces an earlier one. */
const SAYS_NEW =
  /\b(?:now|new(?:ly)?|recent(?:ly)?|updat(?:ed?|ing)|chang(?:ed?|ing)|increas(?:ed?|ing)|decreas(?:ed?|ing)|reduc(?:ed?|ing)|reach(?:ed|ing)?|gr[eo]wn?|growth|grow(?:s|ing)|extend(?:ed|ing)?|expand(?:ed|ing)?|improv(?:ed?|ing)|rais(?:ed?|ing)|rose|risen|dropped|pushed|moved|postponed|rescheduled|adjusted|switched|upgraded|revised|bumped|boosted|cut|doubled|added|additional|extra|another|further|currently|latest|instead|no longer|any ?more|up (?:to|from)|total of|more than|so far|turned out|finally|just)\b/i

/** The same right after a value. */
const SAYS_NEW_AFTER = /^(?:\s[\w'’-]{1,20}){0,4}\s(?:now|instead|so far|already|these days|at the moment)\b/i

const BARE = /^\s*(?:$|[.,;:!?)]|(?:and|but|so|which|that|by|as|since|in)\b)/i
const OLD = /\bfrom $/i
/** Between two values of which the second replaces the first: "from 3 to 4 hours". */
const RANGE = /^(?: [\w'’-]+){0,2} to $/

/** The values that a text states, outside of blocks of code. */
export function statedValues(text: string): StatedValue[] {
  const prose = proseOf(text)
  const values: StatedValue[] = []
  let previousTo = 0
  let isReplaced = false
  for (const match of prose.matchAll(VALUE)) {
    const [whole, date, number, sign = '', word] = match
    const to = match.index + whole.length
    const after = firstSentence(prose.slice(to, to + AFTER_CHARACTERS))
    const before = lastSentence(prose.slice(Math.max(0, match.index - BEFORE_CHARACTERS), match.index))
    const between = prose.slice(Math.max(previousTo, match.index - BEFORE_CHARACTERS), match.index)
    const isOld = OLD.test(between)
    values.push({
      value: (date ?? number ?? word ?? '').toLowerCase().replace(/[,\s]/g, ''),
      from: match.index,
      to,
      isOld,
      isDate: date !== undefined,
      units: date === undefined ? unitsOf(sign.trim().toLowerCase(), after) : new Set(),
      isBare: BARE.test(after),
      around: new Set(termsOf(`${before} ${after}`)),
      isNew: !isOld && (isSaidNew(between, after) || (isReplaced && RANGE.test(between))),
    })
    previousTo = to
    isReplaced = isOld
    if (values.length === VALUES_MAX) break
  }
  return values
}

function lastSentence(text: string): string {
  return text.split(/[.?!]\s|\n/).at(-1) ?? ''
}

function isSaidNew(before: string, after: string): boolean {
  return SAYS_NEW.test(lastClause(lastSentence(before))) || SAYS_NEW_AFTER.test(after)
}

function lastClause(sentence: string): string {
  return sentence.split(/[,;:()]\s|\s(?:and|but|so|because|while)\s/).at(-1) ?? ''
}

function firstSentence(text: string): string {
  return text.split(/[.?!](?:\s|$)|\n/, 1)[0] ?? ''
}

function unitsOf(sign: string, after: string): Set<string> {
  if (sign !== '') return new Set([sign])
  const units = new Set<string>()
  for (const word of after
    .split(/[,;:()]/, 1)[0]
    ?.trim()
    .split(/\s+/)
    .slice(0, UNIT_WORDS_MAX) ?? []) {
    if (functionWords.has(word.toLowerCase())) break
    for (const term of termsOf(word)) units.add(term)
  }
  return units
}
