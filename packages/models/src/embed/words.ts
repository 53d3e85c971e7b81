import { functionWords } from '@heddle/core'

/**
 * The words of a text in lower case, each with its number of occurrences. Identifiers are split (`getUserById`,
 * `get_user_by_id` and "get user by id" have the same four words), accents are dropped, and in scripts without spaces each
 * character is a word.
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

/** Most words match this and need no splitting. */
const PLAIN_WORD = /^[A-Z]?[a-z]+$/

/** Accents of Latin, Greek and Cyrillic letters; the vowel signs of other scripts are kept. */
const ACCENTS = /[\u0300-\u036f]+/g

/** `HTTPServer2` is `HTTP`, `Server`, `2`; the first line matches scripts without spaces between words. */
const PARTS = new RegExp(
  [
    String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]`,
    String.raw`\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lu}+|\p{N}+`,
    String.raw`(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{Lo}\p{Lm}\p{Lt}\p{M}])+`,
  ].join('|'),
  'gu',
)

/**
 * Weight of a word: low for function words, higher for longer words. It approximates the inverse document frequency, which in
 * English rises with a word's length. It is fixed: with frequencies of a scope, vectors from different times would not be
 * comparable. The figures were tuned on LoCoMo's questions; their exact values do not matter.
 */
export function wordWeight(word: string): number {
  if (functionWords.has(word)) return 0.3
  if (word.length === 1) return word < '\u0080' ? 0.3 : 0.7
  return Math.min(1.4, 0.6 + 0.08 * word.length)
}

/** English endings, longest first: a crude stemmer is enough, since it is applied to both sides of a comparison. */
const ENDINGS = ['ingly', 'edly', 'ings', 'ing', 'ied', 'ies', 'ed', 'es', 'ly', 's', 'e']

/** A word without its ending: "copies", "copied" and "copy" become one word. */
export function stemOf(word: string): string {
  if (word.length <= 3) return word
  const ending = ENDINGS.find((candidate) => word.endsWith(candidate) && word.length - candidate.length >= 3)
  if (ending === undefined) return word
  const stem = word.slice(0, -ending.length)
  if (ending === 'ied' || ending === 'ies') return `${stem}y`
  return DOUBLED_END.test(stem) ? stem.slice(0, -1) : stem
}

/** "planned" becomes "plan". */
const DOUBLED_END = /([bdfglmnprt])\1$/
