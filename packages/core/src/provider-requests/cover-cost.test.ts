import { describe, expect, test } from 'vitest'
import { growthBetweenCovers, requestsToPay } from './cover-cost.js'
import { priceOf, pricesOf, withHourMarks } from './prices.js'

const { prices } = pricesOf('anthropic', 'claude-sonnet-4-5-20250929')

/** Sum of what the next requests cost with and without a rewrite, both counted request by request. */
function costs({
  cached,
  place,
  removed,
  requests,
}: {
  cached: number
  place: number
  removed: number
  requests: number
}) {
  const read = (tokens: number) => priceOf(prices, { input: 0, cacheRead: tokens, cacheWrite: 0, output: 0 })
  const write = (tokens: number) => priceOf(prices, { input: 0, cacheRead: 0, cacheWrite: tokens, output: 0 })
  const kept = requests * read(cached)
  const first = read(place) + write(cached - place - removed)
  return { kept, rewritten: first + (requests - 1) * read(cached - removed) }
}

describe('a rewrite of a cached prefix', () => {
  test.each([
    [100_000, 15_000, 60_000],
    [100_000, 15_000, 5_000],
    [30_000, 0, 10_000],
  ])(
    'of %i tokens from %i on that removes %i pays after as many requests as the formula says',
    (cached, place, removed) => {
      const needed = requestsToPay({ cachedTokens: cached, placeTokens: place, removedTokens: removed }, prices)
      // The first request is the one that is rewritten; it saves nothing by itself.
      const after = costs({ cached, place, removed, requests: Math.ceil(needed) + 1 })
      const before = costs({ cached, place, removed, requests: Math.max(1, Math.floor(needed) - 1) })
      expect(after.rewritten).toBeLessThanOrEqual(after.kept)
      if (needed > 2) expect(before.rewritten).toBeGreaterThan(before.kept)
    },
  )

  test('costs nothing where the cache has lost it, and never pays if nothing is removed', () => {
    expect(requestsToPay({ cachedTokens: 0, placeTokens: 0, removedTokens: 10 }, prices)).toBe(0)
    expect(requestsToPay({ cachedTokens: 10, placeTokens: 0, removedTokens: 0 }, prices)).toBe(Number.POSITIVE_INFINITY)
  })

  test('is cheapest at the growth that the formula gives', () => {
    const remainingTokens = 15_000
    const tokensPerRequest = 900
    const perRequest = (growth: number) =>
      ((prices.cacheWrite - prices.cacheRead) * remainingTokens * tokensPerRequest) / growth +
      (prices.cacheRead * growth) / 2
    const best = growthBetweenCovers({ remainingTokens, tokensPerRequest }, prices)
    expect(perRequest(best)).toBeLessThan(perRequest(best * 0.8))
    expect(perRequest(best)).toBeLessThan(perRequest(best * 1.25))
  })
})

describe('prices', () => {
  test('are found with or without a date and the maker', () => {
    expect(pricesOf('openai-chat', 'openai/gpt-4o-mini-2024-07-18').prices.input).toBe(0.15)
    expect(pricesOf('anthropic', 'claude-opus-4-5-20251101').prices.input).toBe(5)
    expect(pricesOf('anthropic', 'claude-opus-4-1').prices.input).toBe(15)
  })

  test.each(['llama-3.3-70b', 'gpt-5.9', 'gpt-5-pro', 'claude-opus-4-9', 'claude-sonnet'])(
    'of an unknown model are said to be unknown: %s',
    (model) => {
      expect(pricesOf('openai-chat', model).isKnown).toBe(false)
    },
  )

  test('for marks of an hour have dearer writes and a longer life', () => {
    const hour = withHourMarks(prices)
    expect(hour.cacheWrite).toBe(prices.input * 2)
    expect(hour.cacheLifetimeMs).toBe(3_600_000)
  })
})
