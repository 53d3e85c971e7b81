import { expect, test } from 'vitest'
import { costOfRequest, dollars, intervalText, passedText, savingText, sumOfCosts } from './costs.js'

test('costs are summed up over the requests that have one', () => {
  const priced = { costUsd: 1, directCostUsd: 2 }
  expect(sumOfCosts([priced, { costUsd: null, directCostUsd: null }, priced])).toEqual({
    costUsd: 2,
    directCostUsd: 4,
    priced: 2,
  })
})

test('a saving, a loss and neither have their own words', () => {
  expect(savingText({ costUsd: 3, directCostUsd: 4 })).toBe('25 % less')
  expect(savingText({ costUsd: 5, directCostUsd: 4 })).toBe('25 % more')
  expect(savingText({ costUsd: 4, directCostUsd: 4 })).toBe('the same')
  expect(savingText({ costUsd: 0, directCostUsd: 0 })).toBe('the same')
  expect([dollars(null), dollars(0.12345)]).toEqual(['–', '$0.1235'])
  expect([passedText({ passed: null }), passedText({ passed: 'not-stored' })]).toEqual(['', 'not stored'])
})

test('a comparison has the cost of one request, and an interval only with enough conversations', () => {
  expect(costOfRequest({ threads: 2, requests: 4, costUsd: 1 })).toBe(0.25)
  expect(costOfRequest({ threads: 0, requests: 0, costUsd: 0 })).toBeNull()
  expect([intervalText(null), intervalText({ low: 0.5, high: 0.755 })]).toEqual(['too few', '0.50 to 0.76'])
})
