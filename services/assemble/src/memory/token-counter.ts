import { countTokens, fingerprint } from '@heddle/core'
import { LRUCache } from 'lru-cache'

/** Texts whose counts are remembered, about 150 bytes each: more than the contexts of a hundred busy threads hold. */
const REMEMBERED_MAX = 20_000
/** Counting a shorter text is as fast as a cache lookup. */
const REMEMBERED_TEXT_CHARACTERS_MIN = 64

/**
 * Counts tokens and caches the counts, least recently used first out, because a thread's next context shares most texts.
 * The key is the text's hash, which takes a tenth of the time of counting; whole texts would take a hundred times the
 * memory.
 */
export class TokenCounter {
  readonly #counts = new LRUCache<string, number>({ max: REMEMBERED_MAX })

  readonly count = (text: string): number => {
    if (text.length < REMEMBERED_TEXT_CHARACTERS_MIN) return countTokens(text)
    const key = fingerprint(text)
    const known = this.#counts.get(key)
    if (known !== undefined) return known
    const tokens = countTokens(text)
    this.#counts.set(key, tokens)
    return tokens
  }
}
