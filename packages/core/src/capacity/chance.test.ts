import { describe, expect, test } from 'vitest'
import { Chance } from './chance.js'

const DRAWS = 200_000

function momentsOf(draw: () => number) {
  let [sum, squares, least] = [0, 0, Number.POSITIVE_INFINITY]
  for (let count = 0; count < DRAWS; count++) {
    const value = draw()
    least = Math.min(least, value)
    sum += value
    squares += value ** 2
  }
  const mean = sum / DRAWS
  return { least, mean, deviation: Math.sqrt(squares / DRAWS - mean ** 2) }
}

describe.each([0.25, 0.5, 1, 2])('spread %d', (spread) => {
  test('has the mean 1 and this standard deviation', () => {
    const chance = new Chance(7)
    const { least, mean, deviation } = momentsOf(() => chance.spread(spread))
    expect(least).toBeGreaterThan(0)
    expect(mean).toBeCloseTo(1, 1)
    expect(deviation / spread).toBeCloseTo(1, 1)
  })
})

test('without a spread all values are 1', () => {
  expect(new Chance(7).spread(0)).toBe(1)
})

test('a seed gives the same numbers again, and another seed others', () => {
  const numbers = (seed: number) => {
    const chance = new Chance(seed)
    return Array.from({ length: 10 }, () => chance.uniform())
  }
  expect(numbers(3)).toEqual(numbers(3))
  expect(numbers(3)).not.toEqual(numbers(4))
})
