import { termsOf } from '../terms/words.js'
import { proseOf, type Statement } from '../updates/statement.js'

/** Words of a statement that are read: what it is about comes first. */
const WORDS_MAX = 400

const WORD = /[\p{L}\p{N}][\p{L}\p{N}'’_./-]*/gu
const SENTENCE_END = /[.!?:\n]["“\s]{0,2}$/
const CAPITALIZED = /^\p{Lu}\p{Ll}/u
const CALENDAR =
  /^(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|(?:mon|tues|wednes|thurs|fri|satur|sun)day)$/i

export interface OpeningStatement {
  readonly index: number
  readonly statement: Statement
  /** Each word's terms, in order. */
  readonly words: readonly (readonly string[])[]
  /** The position of the first word with a term. */
  readonly positions: ReadonlyMap<string, number>
  /** Terms of proper names, by the positions of their words. */
  readonly names: ReadonlyMap<number, string>
}

/** The words of a statement that opens a subject. */
export function openingStatement(statement: Statement, index: number): OpeningStatement {
  const prose = proseOf(statement.text)
  const words: string[][] = []
  const positions = new Map<string, number>()
  const names = new Map<number, string>()
  for (const { 0: word, index: at } of prose.matchAll(WORD)) {
    if (words.length === WORDS_MAX) break
    const terms = [...termsOf(word)]
    for (const term of terms) if (!positions.has(term)) positions.set(term, words.length)
    const [term] = terms
    if (term !== undefined && isName(word) && !beginsSentence(prose, at)) names.set(words.length, term)
    words.push(terms)
  }
  return { index, statement, words, positions, names }
}

/** Names of products and people begin with a capital within a sentence, as months and days do. */
function isName(word: string): boolean {
  return CAPITALIZED.test(word) && !CALENDAR.test(word)
}

function beginsSentence(prose: string, at: number): boolean {
  return at === 0 || SENTENCE_END.test(prose.slice(Math.max(0, at - 3), at))
}
