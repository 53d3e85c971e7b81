import { LRUCache } from 'lru-cache'
import { detached } from '../../tokens/detached.js'
import { stem } from './stem.js'

/** Characters of the longest term: anything longer is a hash or an encoded file, found by its beginning. */
export const TERM_CHARACTERS_MAX = 48

/** Parts of one compound that are indexed besides the whole. */
const PARTS_MAX = 32

/** Cached words with their terms: texts repeat words, and stemming takes longer than a lookup. */
const STEMS_KEPT_MAX = 20_000
/** Longer words are hashes and encoded files, which hardly repeat. */
const STEMS_CHARACTERS_MAX = 40

/**
 * The terms of a text in order, repetitions included.
 *
 * - Words in any script are lower-cased, Latin ones without accents; English endings are stripped.
 * - Names of code, paths, versions and numbers are indexed whole and in parts: `getUserById` gives itself and four
 *   words, `src/a/b.ts` itself, `b.ts` and four words.
 * - Scripts without spaces between words are divided at the word breaks of Unicode.
 *
 * The same text always gives the same terms: both stored documents and queries use this function.
 */
export function* termsOf(text: string): Generator<string> {
  for (const [run] of text.matchAll(RUN)) {
    if (PLAIN.test(run)) yield termOfWord(run)
    else
      for (let from = 0; from < run.length; from += RUN_CHARACTERS_MAX)
        yield* termsOfRun(run.slice(from, from + RUN_CHARACTERS_MAX))
  }
}

/** Characters divided at once: longer runs without a space are cut, whatever they are. */
const RUN_CHARACTERS_MAX = 1_000

/** Letters and digits, and the characters that join them within a name, a path, a number or a contraction. */
const RUN = /[\p{L}\p{M}\p{N}_$]+(?:[-./\\:@#+'’,]+[\p{L}\p{M}\p{N}_$]+)*/gu
/** Most runs of prose: a lower-case word, perhaps with a capital first. */
const PLAIN = /^[A-Za-z][a-z]*$/
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
/** Words of scripts without capitals have no parts; searching for them would take most of the time. */
const ONE_PART = /^[\p{Lo}\p{M}]+$/u
const wordBreaks = new Intl.Segmenter('und', { granularity: 'word' })

/** Joins clauses rather than parts of names: each side is separate. */
const LOOSE_JOINT = /[,:](?!\d)|(?<!\d)[,:]|[.,:/\\-]{2,}|\+/
const JOINT = /[-./\\:@#+,_$]+/
const PART =
  /\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{M}][\p{Ll}\p{Lo}\p{Lm}\p{M}'’]*|\p{Lu}+|\p{N}+|[\p{L}\p{M}]+/gu

function* termsOfRun(run: string): Generator<string> {
  const words = UNSPACED.test(run) ? wordsOfUnspaced(run) : [run]
  for (const word of words) {
    if (ONE_PART.test(word)) {
      const term = termOfWord(word)
      if (term !== '') yield term
      continue
    }
    for (const compound of word.split(LOOSE_JOINT)) if (compound !== '') yield* termsOfCompound(compound)
  }
}

function wordsOfUnspaced(run: string): string[] {
  return [...wordBreaks.segment(run)].flatMap(({ segment, isWordLike }) => (isWordLike ? [segment] : []))
}

function* termsOfCompound(compound: string): Generator<string> {
  const pieces = compound.split(JOINT)
  const parts = pieces.flatMap((piece) => piece.match(PART) ?? [])
  if (parts.length > 1 && isName(compound, pieces)) {
    yield spelled(compound)
    const last = compound.split(/[/\\]/).at(-1) ?? ''
    if (last !== compound && last.split(JOINT).length > 1) yield spelled(last)
  }
  for (const part of parts.slice(0, PARTS_MAX)) {
    const term = termOfWord(part)
    if (term !== '') yield term
  }
}

/** Hyphens alone join words of prose, such as "well-known", which mean no more together than apart. */
function isName(compound: string, pieces: readonly string[]): boolean {
  return /[\p{N}./\\:@#_$]/u.test(compound) || pieces.some((piece) => /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}/u.test(piece))
}

const stems = new LRUCache<string, string>({ max: STEMS_KEPT_MAX })

function termOfWord(word: string): string {
  const known = stems.get(word)
  if (known !== undefined) return known
  const term = PLAIN.test(word) ? stem(word.toLowerCase().slice(0, TERM_CHARACTERS_MAX)) : termOfSpelling(word)
  if (word.length > STEMS_CHARACTERS_MAX) return term
  const kept = detached(term)
  stems.set(detached(word), kept)
  return kept
}

function termOfSpelling(word: string): string {
  const plain = spelled(word.replace(/['’]s?$/, '').replace(/['’]/g, ''))
  return /^[a-z]+$/.test(plain) ? stem(plain) : plain
}

/** Unifies variants that people consider the same: width, case, and the accents of Latin letters. */
function spelled(text: string): string {
  const short = text.slice(0, TERM_CHARACTERS_MAX * 2)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII begins with them.
  if (/^[\x00-\x7f]*$/.test(short)) return short.toLowerCase().slice(0, TERM_CHARACTERS_MAX)
  const folded = short
    .toWellFormed()
    .normalize('NFKD')
    .toLowerCase()
    // Unicode normalizes some letters to a form with a space: the Greek "ͺ" alone, the Arabic "ﷺ" as four words.
    .replace(/(?<=\p{Script=Latin}\p{Mn}*)\p{Mn}|\s/gu, '')
  return [...folded.normalize('NFC')].slice(0, TERM_CHARACTERS_MAX).join('')
}
