import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatMatches, nthMatch, prefixWithinTokens, searchLines, selectLines, truncateToTokens } from './recall.js'
import { countTokens } from './tokens.js'

const content = Array.from({ length: 100 }, (_, index) => `line ${index + 1}`).join('\n')

describe('lines', () => {
  test.each([
    ['10-12', 'line 10\nline 11\nline 12', 10, 12],
    ['L10-12', 'line 10\nline 11\nline 12', 10, 12],
    ['1', 'line 1', 1, 1],
    ['99-500', 'line 99\nline 100', 99, 100],
  ])('%s are cut out to the byte', (range, text, from, to) => {
    expect(selectLines(content, range)).toEqual({ text, from, to, linesTotal: 100 })
  })

  test.each(['', '0', '0-5', '9-3', 'abc', '1-2-3', '101', '-5'])('%j are refused', (range) => {
    expect(() => selectLines(content, range)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR', field: 'lines' }),
    )
  })

  test('put together again are the content', () => {
    const lines = fc.array(fc.string(), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(lines, fc.nat(), (parts, at) => {
        const text = parts.join('\n')
        const total = text === '' ? 0 : text.endsWith('\n') ? text.split('\n').length - 1 : text.split('\n').length
        fc.pre(total >= 2)
        const middle = 1 + (at % (total - 1))
        const joined = `${selectLines(text, `1-${middle}`).text}\n${selectLines(text, `${middle + 1}-${total}`).text}`
        expect(joined).toBe(text.endsWith('\n') ? text.slice(0, -1) : text)
      }),
    )
  })
})

test('a search is literal, whatever the case, and tells the lines', () => {
  expect(searchLines('a.c\nabc\nA.C again\r\n', 'a.C')).toEqual([
    { line: 1, text: 'a.c' },
    { line: 3, text: 'A.C again' },
  ])
  expect(formatMatches(searchLines('x\ny x', 'X'))).toBe('1: x\n2: y x')
  expect(searchLines(content, '')).toEqual([])
  expect(searchLines(content, '(a+)+$')).toEqual([])
})

test('a match is found by its number, of a text or of the search that the content came from', () => {
  expect(nthMatch('Found 2 files\na.ts\n\nb.ts', 2)).toEqual({ line: 4, text: 'b.ts' })
  expect(nthMatch(content, 2, 'line 9')).toEqual({ line: 90, text: 'line 90' })
  expect(nthMatch(content, 101)).toBeNull()
})

describe('truncation', () => {
  test('leaves what fits alone', () => {
    expect(truncateToTokens(content, 2_000)).toEqual({ content, tokenCount: countTokens(content), truncated: false })
  })

  test('keeps whole lines and says truthfully what is missing', () => {
    const { content: cut, tokenCount, truncated } = truncateToTokens(content, 150)
    expect(truncated).toBe(true)
    expect(tokenCount).toBe(countTokens(cut))
    expect(tokenCount).toBeLessThanOrEqual(150)
    const [, kept, left, next] =
      /^([\s\S]*)\n\[truncated: (\d+) characters left; ask for lines (\d+)-100\]$/.exec(cut) ?? []
    expect(kept?.length).toBe(content.length - Number(left))
    expect(content.startsWith(`${kept}\nline ${next}\n`)).toBe(true)
  })

  test('numbers the lines by the place that the content was cut from', () => {
    const { content: cut } = truncateToTokens(selectLines(content, '40-100').text, 100, 40)
    expect(cut).toMatch(/^line 40\n[\s\S]*ask for lines \d+-100\]$/)
  })

  test('cuts a line that is too long alone, without half a character', () => {
    const { content: cut, tokenCount } = truncateToTokens('🧵'.repeat(1_000_000), 200)
    expect(tokenCount).toBeLessThanOrEqual(200)
    expect(cut.isWellFormed()).toBe(true)
    expect(cut).toContain('line 1 is cut; search for a text to see more')
  })

  test('never gives more tokens than were asked for, and a prefix of the content', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 3_000 }),
        fc.integer({ min: 0, max: 300 }),
        (text, tokensMax) => {
          const result = truncateToTokens(text, tokensMax)
          expect(result.tokenCount).toBe(countTokens(result.content))
          expect(result.tokenCount).toBeLessThanOrEqual(tokensMax)
          expect(result.truncated).toBe(result.content !== text)
          expect(text.startsWith(result.content.replace(/\n\[truncated: .*\]$/, ''))).toBe(true)
        },
      ),
    )
  })

  test('finds nearly the longest prefix', () => {
    const length = prefixWithinTokens(content, 200)
    expect(countTokens(content.slice(0, length))).toBeGreaterThan(190)
  })
})
