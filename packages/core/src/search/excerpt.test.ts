import fc from 'fast-check'
import { expect, test } from 'vitest'
import { finish } from '../recall/steps.js'
import { EXCERPT_CHARACTERS_MAX, excerpt } from './excerpt.js'

const show = (text: string, ...terms: string[]) => finish(excerpt(text, new Set(terms)))
const filler = 'nothing to see in these words at all. '.repeat(40)

test('a short text is shown whole', () => {
  expect(show('  the loom is broken ', 'loom')).toBe('the loom is broken')
})

test('of a long text the part with the most distinct query words is shown', () => {
  const text = `the loom ${filler} loom loom ${filler} a broken loom ${filler}`
  expect(show(text, 'loom', 'broken')).toContain('a broken loom')
  expect(show(text, 'loom', 'broken')).toMatch(/^….*…$/s)
  expect(show(text, 'unheard')).toMatch(/^the loom .*…$/s)
})

test('an excerpt is a bounded, well-formed part of its text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 2_000 }), fc.nat(2_000), (text, at) => {
      const word = `${text.slice(0, at).toWellFormed()} loom ${text.slice(at).toWellFormed()}`
      const shown = show(word, 'loom')
      expect(shown.length).toBeLessThanOrEqual(EXCERPT_CHARACTERS_MAX + 2)
      expect(shown.isWellFormed()).toBe(true)
    }),
  )
})
