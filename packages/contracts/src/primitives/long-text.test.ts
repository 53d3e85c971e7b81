import fc from 'fast-check'
import { expect, test } from 'vitest'
import { holdsLongText, jsonLengthOf, jsonSteps, SHORT_TEXT_CHARACTERS_MAX, textPieces } from './long-text.js'

const odd = fc.constantFrom('"', '\\', '\0', '\n', '\u001f', '\u007f', '\ud83d', '\ude00', '😀', 'a', '中', '\u2028')
const oddText = fc.array(odd, { maxLength: 60 }).map((parts) => parts.join(''))
const longText = fc.tuple(oddText, oddText).map(([before, repeated]) => {
  const often = Math.ceil((2 * SHORT_TEXT_CHARACTERS_MAX) / Math.max(1, repeated.length))
  return before + (repeated || 'x').repeat(often)
})

function carryOut(steps: Generator<undefined, string>): { text: string; pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const step = steps.next()
    if (step.done) return { text: step.value, pauses }
  }
}

test('the JSON of a value with long texts equals that of JSON.stringify, with pauses within each of them', () => {
  fc.assert(
    fc.property(longText, oddText, fc.jsonValue(), (long, short, other) => {
      const value = { long, short, other, left: undefined, list: [long, null, undefined, { long }, 1.5, true] }
      const { text, pauses } = carryOut(jsonSteps(value))
      expect(text === JSON.stringify(value)).toBe(true)
      expect(pauses).toBeGreaterThanOrEqual(6)
    }),
    { numRuns: 30 },
  )
  expect(carryOut(jsonSteps({ short: 'text' }))).toEqual({ text: '{"short":"text"}', pauses: 0 })
})

test('no piece ends within a surrogate pair, and all of them are the text', () => {
  fc.assert(
    fc.property(oddText, fc.integer({ min: 2, max: 9 }), (text, charactersMax) => {
      const pieces = [...textPieces(text, charactersMax)]
      expect(pieces.join('')).toBe(text)
      for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(charactersMax)
      for (const [index, piece] of pieces.slice(1).entries())
        expect(/[\ud800-\udbff]$/.test(pieces[index] ?? '') && /^[\udc00-\udfff]/.test(piece)).toBe(false)
    }),
  )
})

test("the length of a text's JSON is computed without making it", () => {
  fc.assert(
    fc.property(fc.oneof(oddText, fc.string({ unit: 'binary' })), (text) => {
      expect(jsonLengthOf(text)).toBe(JSON.stringify(text).length)
    }),
  )
})

test('a long text is found at any position', () => {
  const long = 'x'.repeat(SHORT_TEXT_CHARACTERS_MAX + 1)
  for (const value of [long, [long], { a: { b: [1, long] } }]) expect(holdsLongText(value)).toBe(true)
  for (const value of [null, 1, undefined, long.slice(1), { a: [long.slice(1)] }])
    expect(holdsLongText(value)).toBe(false)
})
