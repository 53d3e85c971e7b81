import { expect, test } from 'vitest'
import { Availability } from './availability.js'

const tried = { fromMs: 0, toMs: 6_000 }

function successes(...timesMs: number[]): Availability {
  const availability = new Availability()
  for (const timeMs of timesMs) availability.note(timeMs)
  return availability
}

test('the longest time without a success is that which overlaps the outage', () => {
  const availability = successes(100, 900, 1_000, 5_000, 5_100)
  expect(availability.longestGapMs(tried)).toBe(4_000)
  expect(availability.longestGapMs(tried, [{ fromMs: 200, toMs: 300 }])).toBe(800)
  const two = [
    { fromMs: 20, toMs: 30 },
    { fromMs: 950, toMs: 960 },
  ]
  expect(availability.longestGapMs(tried, two)).toBe(100)
  expect(availability.longestGapMs(tried, [])).toBe(0)
})

test('the time before the first success counts, that after the last one does not, and without any all of it does', () => {
  expect(successes(5_000, 5_100).longestGapMs(tried)).toBe(5_000)
  expect(successes(100, 200).longestGapMs(tried)).toBe(100)
  expect(successes().longestGapMs(tried)).toBe(6_000)
})
