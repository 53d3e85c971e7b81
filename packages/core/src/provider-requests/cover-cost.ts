import type { Prices } from './prices.js'

/** A rewrite of a conversation's beginning, in tokens. */
export interface Rewrite {
  /** Tokens of the prefix in the provider's cache; 0 for a cold one. */
  readonly cachedTokens: number
  /** Tokens before the first that changes. */
  readonly placeTokens: number
  /** Tokens of the request that disappear, less those of the text in their place. */
  readonly removedTokens: number
}

/**
 * The further requests after which a rewrite of a cached prefix has paid for itself: what follows the changed place is
 * written to the cache again, and each later request reads `removedTokens` less. With T cached tokens, D removed ones from
 * place p on, and prices r of a read and w of a write, `(w - r)(T - p - D) / (r D)`. 0 for a cold cache: all is written anyway.
 */
export function requestsToPay({ cachedTokens, placeTokens, removedTokens }: Rewrite, prices: Prices): number {
  const { cacheRead: read, cacheWrite: write } = prices
  if (removedTokens <= 0) return Number.POSITIVE_INFINITY
  const rewritten = cachedTokens - placeTokens - removedTokens
  return rewritten <= 0 ? 0 : ((write - read) * rewritten) / (read * removedTokens)
}

/**
 * The further requests that are expected of a conversation: as many as it has had. Lengths of conversations have long tails,
 * and of such the median rest is about as long as the past. At least 1, at most 60.
 */
export function requestsExpected(requestsBefore: number): number {
  return Math.min(60, Math.max(1, requestsBefore))
}

/**
 * Growth of a conversation, in tokens above its least size, after which the next cover is cheapest. A cover costs
 * `C = (w - r) B` for the `B` tokens that remain and are written again, and between two of them each request reads half of the
 * growth `G` more than it would have to, at `g` tokens a request: `C g / G + r G / 2` a request is least at
 * `G = sqrt(2 C g / r)`.
 */
export function growthBetweenCovers(
  { remainingTokens, tokensPerRequest }: { readonly remainingTokens: number; readonly tokensPerRequest: number },
  { cacheRead, cacheWrite }: Prices,
): number {
  return Math.sqrt((2 * (cacheWrite - cacheRead) * remainingTokens * tokensPerRequest) / cacheRead)
}
