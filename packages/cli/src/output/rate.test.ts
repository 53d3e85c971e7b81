import { expect, test } from 'vitest'
import { Rate } from './rate.js'

test('a rate covers the last seconds, so that it shows a slowdown', () => {
  const rate = new Rate(0)
  for (let second = 1; second <= 60; second++) rate.at(second * 1_000, { done: second * 20, total: 5_000 })
  expect(rate.at(61_000, { done: 1_220, total: 5_000 })).toEqual({ perSecond: 20, secondsLeft: 189 })
  for (let second = 62; second <= 80; second++) rate.at(second * 1_000, { done: 1_220 + (second - 61), total: 5_000 })
  expect(rate.at(81_000, { done: 1_240, total: 5_000 })).toEqual({ perSecond: 1, secondsLeft: 3_760 })
})

test('the time left is unknown while nothing is done', () => {
  expect(new Rate(0).at(5_000, { done: 0, total: 10 })).toEqual({ perSecond: 0, secondsLeft: null })
})
