import { countTokens } from '@heddle/core'
import { expect, test } from 'vitest'
import { contentShapes } from '../../../../test/support/src/content-shapes/index.js'
import { withinTokens } from './fold-text.js'

test.each(['chinese', 'sentences', 'high-surrogates'])('a long text is cut to the limit: %s', (shape) => {
  const text = contentShapes[shape]?.(60_000) ?? ''
  const tokensMax = Math.floor(countTokens(text) * 0.93)
  const kept = withinTokens(text, tokensMax)
  expect(text.toWellFormed().startsWith(kept)).toBe(true)
  expect(countTokens(kept)).toBeLessThanOrEqual(tokensMax)
  expect(countTokens(kept)).toBeGreaterThan(tokensMax * 0.95)
})

test('a text that fits is not changed', () => {
  expect(withinTokens('A short text.', 100)).toBe('A short text.')
})
