import { countTokens } from '@heddle/core'
import { BoundedMap } from './bounded-map.js'

/** Characters of texts whose counts are remembered: about what the contexts of a hundred busy threads hold. */
const REMEMBERED_CHARACTERS_MAX = 32_000_000
/** Shorter texts are counted as fast as they are looked up. */
const REMEMBERED_TEXT_CHARACTERS_MIN = 64

/** Counts tokens and remembers the counts of texts, least recently used first out: a thread's next context shares most of them. */
export class TokenCounter {
  readonly #counts = new BoundedMap<number>(REMEMBERED_CHARACTERS_MAX)

  readonly count = (text: string): number => {
    if (text.length < REMEMBERED_TEXT_CHARACTERS_MIN) return countTokens(text)
    const known = this.#counts.get(text)
    if (known !== undefined) return known
    const tokens = countTokens(text)
    this.#counts.set(text, tokens, text.length)
    return tokens
  }
}
