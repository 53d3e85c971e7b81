import { functionWords } from '@heddle/core'

/**
 * The words of a text in small letters, each with the number of times that it occurs. Identifiers are taken apart
 * (`getUserById`, `get_user_by_id` and "get user by id" have the same four words), accents are dropped, and of scripts
 * without spaces each character is a word.
 */
export function countWords(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  const add = (word: string) => counts.set(word, (counts.get(word) ?? 0) + 1)
  for (const run of text.match(LETTER_RUNS) ?? []) {
    if (PLAIN_WORD.test(run)) {
      add(run.toLowerCase())
      continue
    }
    const parts = run.normalize('NFKD').replace(ACCENTS, '').match(PARTS) ?? []
    for (const part of parts) add(part.toLowerCase())
  }
  return counts
}

const LETTER_RUNS = /[\p{L}\p{M}\p{N}]+/gu

/** Most words are one: no need to take them apart. */
const PLAIN_WORD = /^[A-Z]?[a-z]+$/

/** Accents of Latin, Greek and Cyrillic letters; the vowel signs of other scripts stay. */
const ACCENTS = /[\u0300-\u036f]+/g

/** `HTTPServer2` is `HTTP`, `Server`, `2`; the first line is scripts that put no spaces between words. */
const PARTS = new RegExp(
  [
    String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]`,
    String.raw`\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lu}+|\p{N}+`,
    String.raw`(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{Lo}\p{Lm}\p{Lt}\p{M}])+`,
  ].join('|'),
  'gu',
)

/**
 * How much a word says about what a text is about: little for function words, more for longer words. It stands for the inverse
 * document frequency, which in English rises with a word's length, and is fixed: with the frequencies of a scope, vectors
 * that were made today and a year ago could not be compared. The figures were chosen on LoCoMo's questions; nothing depends
 * on them being exact.
 */
export function wordWeight(word: string): number {
  if (functionWords.has(word)) return 0.3
  if (word.length === 1) return word < '\u0080' ? 0.3 : 0.7
  return Math.min(1.4, 0.6 + 0.08 * word.length)
}

/** English endings, longest first: a crude stemmer is enough, since both sides of a comparison go through it. */
const ENDINGS = ['ingly', 'edly', 'ings', 'ing', 'ied', 'ies', 'ed', 'es', 'ly', 's', 'e']

/** What is left of a word without its ending: "copies", "copied" and "copy" are one word. */
export function stemOf(word: string): string {
  if (word.length <= 3) return word
  const ending = ENDINGS.find((candidate) => word.endsWith(candidate) && word.length - candidate.length >= 3)
  if (ending === undefined) return word
  const stem = word.slice(0, -ending.length)
  if (ending === 'ied' || ending === 'ies') return `${stem}y`
  return DOUBLED_END.test(stem) ? stem.slice(0, -1) : stem
}

/** "planned" is "plan". */
const DOUBLED_END = /([bdfglmnprt])\1$/
