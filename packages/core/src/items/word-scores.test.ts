import { expect, test } from 'vitest'
import { likeQuery } from './like-query.js'
import { hybridScore, wordScores } from './word-scores.js'

test('a text scores the share of the words of the query that it has, and rare words count the most', () => {
  const texts = ['Deploy the billing service.', 'Deploy the search service.', 'Write short sentences.']
  const [billing = 0, search = 0, style] = wordScores('How do I deploy the billing service?', texts)
  expect(billing).toBeCloseTo(1)
  expect(search).toBeGreaterThan(0.3)
  expect(search).toBeLessThan(0.7)
  expect(style).toBe(0)
})

test('a query of function words alone gives no score', () => {
  expect(wordScores('How is it?', ['It is how it is.'])).toEqual([0])
  expect(wordScores('deploy', [])).toEqual([])
})

test('words raise a score of vectors up to their share of the rest, and never lower it', () => {
  expect(hybridScore(0.4, 0, 0.5)).toBe(0.4)
  expect(hybridScore(0.4, 1, 0.5)).toBeCloseTo(0.7)
  expect(hybridScore(0, 1, 0.5)).toBe(0.5)
  expect(hybridScore(1, 1, 1)).toBe(1)
})

test('queries that differ in case, spaces and closing punctuation have one form', () => {
  expect(likeQuery('  How do I\n authenticate?! ')).toBe('how do i authenticate')
  expect(likeQuery('how do I authenticate')).toBe('how do i authenticate')
  expect(likeQuery('how do you authenticate')).not.toBe('how do i authenticate')
  expect(likeQuery('?')).toBe('?')
})
