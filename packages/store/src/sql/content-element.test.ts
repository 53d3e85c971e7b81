import { finish } from '@heddle/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { asQuotedArray } from './arrays.js'
import { contentElement, contentElementSteps } from './content-element.js'

const piece = fc.constantFrom('"', '\\', '\0', '\n', '\ud83d', '\ude00', '😀', 'a', '中', 'some words')

test('the element of a long content equals the one that `asQuotedArray` writes', () => {
  const content = fc.array(piece, { minLength: 1, maxLength: 20 }).map((parts) => parts.join('').repeat(20_000))
  fc.assert(
    fc.property(content, (text) => {
      const element = finish(contentElementSteps(text))
      const { value, isEscaped } = contentElement(text)
      if (text.length > 40_000) expect(element).not.toBeNull()
      if (element === null) return
      expect(element.isEscaped).toBe(isEscaped)
      expect(asQuotedArray([element]) === asQuotedArray([value])).toBe(true)
    }),
    { numRuns: 30 },
  )
})

test('a content of usual size gets no separate element', () => {
  expect(finish(contentElementSteps('a "short" one'))).toBeNull()
})
