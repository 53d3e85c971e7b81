import { expect, test } from 'vitest'
import { highlight, matcherOf, termsOf } from './highlight.js'

const marked = (text: string, query: string, stems: string[] = []) =>
  highlight(text, matcherOf(termsOf(query, stems)))
    .map((piece) => (piece.isTerm ? `[${piece.text}]` : piece.text))
    .join('')

test('words of the query are marked whatever their case, and words that begin with a stem', () => {
  expect(marked('Pruning prunes; the rule of the PORT.', 'port', ['prun'])).toBe(
    '[Pruning] [prunes]; the rule of the [PORT].',
  )
  expect(marked('support', 'port')).toBe('support')
})

test('characters of expressions are text, and no term marks nothing', () => {
  expect(marked('a+b (c) [x]', 'a+b .* (')).toBe('a+b (c) [x]')
  expect(marked('any', '')).toBe('any')
  expect(marked('foo_bar is here', 'foo_bar')).toBe('[foo_bar] is here')
})

test('a text of megabytes without a hit is one piece', () => {
  const long = 'x'.repeat(4_000_000)
  expect(highlight(long, matcherOf(termsOf('port pruning')))).toEqual([{ text: long, isTerm: false }])
})
