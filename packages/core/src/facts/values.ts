import { type StatedValue, statedValues } from '../search/updates/stated-values.js'
import type { FactDraft } from './fact.js'
import { subjectKey, subjectWords } from './subject-key.js'

/*
 * Numbers and dates that a sentence states of something: "the build takes 12 minutes", "150 commits are merged". The words
 * before a value in its clause name its subject, and for counts those after it, too.
 */

/** Words of a subject: more are those of another. */
const SUBJECT_WORDS_MAX = 6
/** A subject of one word, such as "time", may be that of many things. */
const SUBJECT_WORDS_MIN = 2
const VALUES_MAX = 8

const CLAUSE_END = /[,;:()]\s|\s(?:and|but|so|because|while|which|where|since|after|before|with)\s/
const DURATION =
  /^(?:ms|s|sec|secs|min|mins|h|hr|hrs|milliseconds?|seconds?|minutes?|hours?|days?|weeks?|months?|years?)$/i

/** Formulas and code state no fact of anybody's. */
const FORMULA = /[=\\^{}]|\S\([^)\s]{1,20}\)/
/** Things with one date at a time. Others happen again and again. */
const SCHEDULED =
  /\b(?:deadlines?|due|launch|release|submission|exam|appointment|birthday|wedding|anniversary|expir\w*|starts?|ends?)\b/i

export function valueFacts(sentence: string): FactDraft[] {
  if (FORMULA.test(sentence)) return []
  const facts = statedValues(sentence)
    .slice(0, VALUES_MAX)
    .flatMap((stated) => factOf(sentence, stated) ?? [])
  const keyOf = ({ subject, predicate }: FactDraft) => `${subjectKey(subject)} ${predicate}`
  // Two values of one subject in one sentence are no change.
  return facts.map((fact) => {
    const isAlone = facts.filter((other) => keyOf(other) === keyOf(fact)).length === 1
    return fact.isSingle && !isAlone ? { ...fact, isSingle: false } : fact
  })
}

function factOf(sentence: string, stated: StatedValue): FactDraft | null {
  if (stated.isOld) return null
  const after = sentence.slice(stated.to)
  const unit = /^[\s-]?([\p{L}%]+)/u.exec(after)?.[1] ?? ''
  const text = sentence.slice(stated.from, stated.to).trim()
  const predicate = predicateOf(stated, text, unit)
  const counted = predicate === 'count' ? (after.split(CLAUSE_END, 1)[0] ?? '').split(/[.?!]/, 1)[0] : ''
  const words = [...wordsBefore(sentence.slice(0, stated.from)), ...subjectWords(counted ?? '').slice(0, 3)]
  if (words.length === 0) return null
  const subject = words.slice(-SUBJECT_WORDS_MAX).join(' ')
  const isOne = predicate === 'date' ? SCHEDULED.test(subject) : predicate !== 'value'
  return {
    subject,
    predicate,
    object: predicate === 'duration' && DURATION.test(unit) && !text.endsWith(unit) ? `${text} ${unit}` : text,
    kind: 'value',
    isNegated: false,
    isSingle: isOne && words.length >= SUBJECT_WORDS_MIN,
    statement: sentence,
    confidence: stated.isNew ? 0.8 : 0.6,
  }
}

/** The words of the last clause that has any. */
function wordsBefore(before: string): string[] {
  for (const clause of before.split(CLAUSE_END).reverse().slice(0, 2)) {
    const words = subjectWords(clause)
    if (words.length > 0) return words.slice(-SUBJECT_WORDS_MAX)
  }
  return []
}

function predicateOf({ isDate }: StatedValue, text: string, unit: string): string {
  if (isDate) return 'date'
  if (/%$/.test(text) || unit === '%' || /^percent/i.test(unit)) return 'percentage'
  if (/^[$€£]/.test(text)) return 'amount'
  if (/\d\s?(?:ms|s|h|min)$/.test(text) || DURATION.test(unit)) return 'duration'
  if (/^\d+(?:\.\d+){2,}$/.test(text)) return 'version'
  return unit === '' ? 'value' : 'count'
}
