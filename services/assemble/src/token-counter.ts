import { countTokens } from '@heddle/core'

/** Characters of texts whose counts are remembered: about what the contexts of a hundred busy threads hold. */
const REMEMBERED_CHARACTERS_MAX = 32_000_000
/** Shorter texts are counted as fast as they are looked up. */
const REMEMBERED_TEXT_CHARACTERS_MIN = 64

/** Counts tokens and remembers the counts of texts, least recently used first out: a thread's next context shares most of them. */
export class TokenCounter {
  readonly #counts = new Map<string, number>()
  #characters = 0

  readonly count = (text: string): number => {
    if (text.length < REMEMBERED_TEXT_CHARACTERS_MIN) return countTokens(text)
    const known = this.#counts.get(text)
    if (known !== undefined) {
      this.#counts.delete(text)
      this.#counts.set(text, known)
      return known
    }
    const tokens = countTokens(text)
    this.#counts.set(text, tokens)
    this.#characters += text.length
    for (const oldest of this.#counts.keys()) {
      if (this.#characters <= REMEMBERED_CHARACTERS_MAX) break
      this.#counts.delete(oldest)
      this.#characters -= oldest.length
    }
    return tokens
  }
}
