import { expect, test } from 'vitest'
import { backOffMs } from './back-off.js'

test('the delay doubles with each attempt up to the maximum, for any number of attempts', () => {
  const waits = [0, 1, 2, 3, 4, 5_000].map((tries) => backOffMs(tries, { firstMs: 100, maxMs: 1_000 }))
  expect(waits).toEqual([100, 200, 400, 800, 1_000, 1_000])
})

test('jitter reduces a delay by at most its share', () => {
  const wait = { firstMs: 100, maxMs: 1_000, jitter: 0.5 }
  expect(backOffMs(1, wait, () => 0)).toBe(100)
  expect(backOffMs(1, wait, () => 0.5)).toBe(150)
  expect(backOffMs(1, wait, () => 1)).toBe(200)
  expect(backOffMs(1, { ...wait, jitter: 1 }, () => 0)).toBe(0)
})
