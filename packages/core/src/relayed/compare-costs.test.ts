import { expect, test } from 'vitest'
import { type ConversationCost, compareCosts } from './compare-costs.js'

/** Conversations of different lengths, whose requests cost about as much as given. */
const group = (count: number, costUsd: number, shift = 0): ConversationCost[] =>
  Array.from({ length: count }, (_, index) => {
    const requests = 1 + ((index * 7 + shift) % 40)
    return { requests, costUsd: requests * costUsd * (0.6 + 0.8 * (((index * 13 + shift) % 17) / 16)) }
  })

test('a saving is shown with an interval around it, the same each time', () => {
  const [treated, control] = [group(200, 0.006), group(100, 0.01, 3)]
  const { ratio, interval } = compareCosts(treated, control)
  expect(ratio).toBeGreaterThan(0.5)
  expect(ratio).toBeLessThan(0.7)
  expect(interval?.low).toBeLessThan(ratio ?? 0)
  expect(interval?.high).toBeGreaterThan(ratio ?? 1)
  expect(interval?.high).toBeLessThan(1)
  expect(compareCosts(treated, control)).toEqual({ ratio, interval })
})

test('an interval is narrower with more conversations, and has 1 in it where nothing is saved', () => {
  const width = (count: number) => {
    const { interval } = compareCosts(group(count, 0.01), group(count, 0.01, 5))
    expect(interval?.low).toBeLessThan(1)
    expect(interval?.high).toBeGreaterThan(1)
    return (interval?.high ?? 0) - (interval?.low ?? 0)
  }
  expect(width(1_000)).toBeLessThan(width(20))
})

test('the interval holds the true ratio in about 95 of 100 samples', () => {
  // Conversations whose requests cost twice as much without the proxy, each sample with its own noise.
  let state = 7
  const noise = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
  const sample = (count: number, costUsd: number) =>
    Array.from({ length: count }, () => {
      const requests = 1 + Math.floor(noise() * 30)
      return { requests, costUsd: requests * costUsd * (0.2 + 1.6 * noise()) }
    })
  let held = 0
  for (let count = 0; count < 100; count++) {
    const { interval } = compareCosts(sample(60, 0.01), sample(60, 0.02))
    if (interval !== null && interval.low <= 0.5 && interval.high >= 0.5) held++
  }
  expect(held).toBeGreaterThanOrEqual(88)
})

test('too few conversations have a ratio without an interval', () => {
  expect(compareCosts(group(9, 0.01), group(50, 0.01)).interval).toBeNull()
  expect(compareCosts(group(9, 0.01), group(50, 0.01)).ratio).not.toBeNull()
  expect(compareCosts([], group(50, 0.01))).toEqual({ ratio: null, interval: null })
  expect(compareCosts(group(50, 0.01), [{ requests: 3, costUsd: 0 }])).toEqual({ ratio: null, interval: null })
})
