import { sentencesOf } from '../speech/sentences.js'
import { plainWords } from '../summarizing/pinned.js'
import { endingsOf, identifiersIn, numbersIn, pathsIn, urlsIn } from './tokens.js'

/** Characters of one message that is shown raw; beyond it nothing is looked for. */
const RAW_CHARACTERS_MAX = 64_000

const REFERENCE = /\bmsg-([0-9a-z]{1,52})(:ledger\b)?/g

/** The references in a text. */
export function referencesIn(text: string): { readonly reference: string; readonly isLedger: boolean }[] {
  return [...text.matchAll(REFERENCE)].map(([, code = '', ledger]) => ({
    reference: `msg-${code}`,
    isLedger: ledger !== undefined,
  }))
}

/** The details in texts of a context, by their forms. */
export class ShownDetails {
  readonly paths = new Set<string>()
  readonly urls = new Set<string>()
  readonly numbers = new Set<string>()
  readonly identifiers = new Set<string>()
  readonly sentences = new Set<string>()

  add(text: string): void {
    const read = text.slice(0, RAW_CHARACTERS_MAX)
    for (const path of pathsIn(read)) for (const ending of endingsOf(path)) this.paths.add(ending)
    for (const url of urlsIn(read)) this.urls.add(url)
    for (const { key } of numbersIn(read)) this.numbers.add(key)
    for (const name of identifiersIn(read)) this.identifiers.add(name)
    for (const sentence of sentencesOf(read)) this.sentences.add(plainWords(sentence))
  }
}

/** A share of a line's words that says that the line is about the same. */
const SHARE_MIN = 0.6
const WORD_CHARACTERS_MIN = 3
const WORDS_READ = 40

/** A summary, in which sentences and their rewordings are found. */
export class SummaryText {
  readonly details = new ShownDetails()
  readonly references = new Set<string>()
  readonly hasLedger: boolean
  readonly #words: string
  /** The lines that have a word. */
  readonly #lines = new Map<string, number[]>()

  constructor(readonly text: string) {
    this.details.add(text)
    const references = referencesIn(text)
    for (const { reference, isLedger } of references) if (!isLedger) this.references.add(reference)
    this.hasLedger = references.some(({ isLedger }) => isLedger)
    this.#words = plainWords(text)
    for (const [index, line] of text.split('\n').entries()) {
      for (const word of wordsOf(line)) {
        const lines = this.#lines.get(word)
        if (lines === undefined) this.#lines.set(word, [index])
        else if (lines.at(-1) !== index) lines.push(index)
      }
    }
  }

  /** @param words of {@link plainWords} */
  hasVerbatim(words: string): boolean {
    return words.trim() !== '' && this.#words.includes(words)
  }

  /** Whether one line has most of the words, in any order. */
  hasReworded(text: string): boolean {
    const words = wordsOf(text).slice(0, WORDS_READ)
    if (words.length === 0) return false
    const counts = new Map<number, number>()
    for (const word of words)
      for (const line of this.#lines.get(word) ?? []) counts.set(line, (counts.get(line) ?? 0) + 1)
    const least = Math.max(Math.min(2, words.length), SHARE_MIN * words.length)
    return [...counts.values()].some((count) => count >= least)
  }
}

function wordsOf(line: string): string[] {
  const words = line.toLowerCase().match(/[\p{L}\p{N}_-]+/gu) ?? []
  return [...new Set(words.filter((word) => word.length >= WORD_CHARACTERS_MIN))]
}
