import fc from 'fast-check'
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { contentShapes } from '../../../../test/support/src/content-shapes/index.js'
import { propertyRuns } from '../../../../test/support/src/property-runs.js'
import { countTokens, countTokensInSteps, estimateTokens } from './tokens.js'

const expected = (text: string) => countO200k(text, { disallowedSpecial: new Set<string>() })

test('the count of a text is that of the encoding, for any characters', () => {
  const words = fc.constantFrom(
    "don't",
    ' the',
    '  ',
    '\n\n',
    ' \n ',
    '\t',
    '123456',
    'Überfluß',
    '漢字',
    '👩‍👩‍👧',
    'a\u0301',
    '=>',
  )
  const part = fc.oneof(
    words,
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.string({ unit: 'grapheme', maxLength: 20 }),
  )
  const texts = fc.array(part, { maxLength: 40 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(texts, (text) => {
      expect(countTokens(text)).toBe(expected(text))
      expect(countTokens(text)).toBe(expected(text))
    }),
    { numRuns: propertyRuns(2_000) },
  )
})

test('the count of a long text is that of the encoding, wherever it is divided', () => {
  const part = fc.constantFrom(
    ' the',
    "don't",
    '漢字',
    ' \n\n ',
    '     ',
    'getUserById',
    '\t',
    '1234',
    '=====/\n',
    '👩‍👩‍👧',
    'é',
    '.',
  )
  const texts = fc.array(part, { minLength: 9_000, maxLength: 20_000, size: 'max' }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(texts, (text) => {
      expect(countTokens(text)).toBe(expected(text))
    }),
    { numRuns: propertyRuns(20) },
  )
})

test('names of special tokens are text', () => {
  expect(countTokens('<|endoftext|>')).toBe(expected('<|endoftext|>'))
  expect(countTokens('<|endoftext|>')).toBeGreaterThan(1)
})

test('a run without a break is counted in linear time, and never too low', () => {
  const text = 'a'.repeat(200_000)
  const startedMs = performance.now()
  expect(countTokens(text)).toBeGreaterThanOrEqual(25_000)
  expect(performance.now() - startedMs).toBeLessThan(2_000)
})

test('an empty text has zero tokens', () => {
  expect(countTokens('')).toBe(0)
})

test('the estimate of a text is a token for each four characters, begun ones included', () => {
  expect([0, 1, 4, 5, 400].map((length) => estimateTokens('x'.repeat(length)))).toEqual([0, 1, 1, 2, 100])
})

test.each(['chinese', 'commands-a-line', 'spaces', 'distinct-words'])(
  'a long text is counted with pauses, at most a window apart, to the same sum: %s',
  (shape) => {
    const text = contentShapes[shape]?.(100_000) ?? ''
    const steps = countTokensInSteps(text)
    let pauses = 0
    let step = steps.next()
    for (; !step.done; step = steps.next()) pauses++
    expect(step.value).toBe(countTokens(text))
    expect(pauses).toBeGreaterThanOrEqual(Math.floor(text.length / 8_192))
  },
)
