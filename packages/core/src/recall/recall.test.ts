import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countTokens } from '../tokens/tokens.js'
import * as recall from './index.js'
import { cutPiece, excerptsOf, finish, type LineMatch } from './index.js'

const selectLines = (content: string, range: string) => finish(recall.selectLines(content, range))
const searchLines = (content: string, literal: string) => finish(recall.searchLines(content, literal))
const nthMatch = (content: string, number: number) => finish(recall.nthMatch(content, number))
const truncateToTokens = (content: string, tokensMax: number, firstLine?: number) =>
  finish(recall.truncateToTokens(content, tokensMax, firstLine))

const content = Array.from({ length: 100 }, (_, index) => `line ${index + 1}`).join('\n')

describe('lines', () => {
  test.each([
    ['10-12', 'line 10\nline 11\nline 12', 10, 12],
    ['L10-12', 'line 10\nline 11\nline 12', 10, 12],
    ['1', 'line 1', 1, 1],
    ['99-500', 'line 99\nline 100', 99, 100],
  ])('%s are selected byte for byte', (range, text, from, to) => {
    expect(selectLines(content, range)).toEqual({ text, from, to, linesTotal: 100 })
  })

  test.each(['', '0', '0-5', '9-3', 'abc', '1-2-3', '101', '-5'])('%j are refused', (range) => {
    expect(() => selectLines(content, range)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR', field: 'lines' }),
    )
  })

  test('concatenated are the content', () => {
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

describe('a search', () => {
  test('is literal, ignores case, and returns line numbers', () => {
    const { matches, matchCount } = searchLines('a.c\nabc\nA.C again\r\n', 'a.C')
    expect(matches).toEqual([
      { line: 1, text: 'a.c' },
      { line: 3, text: 'A.C again' },
    ])
    expect(matchCount).toBe(2)
    expect(excerptsOf(searchLines('x\ny x', 'X').matches, 'X')).toEqual(['1: x', '2: y x'])
    expect(searchLines(content, '').matchCount).toBe(0)
    expect(searchLines(content, '(a+)+$').matchCount).toBe(0)
  })

  test('finds the lines that a naive search finds, long and short', () => {
    const some = fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom('İ', 'ß', '\n', '😀', 'Σ'.repeat(3)))
    const text = fc.array(some, { maxLength: 40 }).map((parts) => parts.join(''))
    const filler = fc.constantFrom(0, 64 * 1024 - 3, 64 * 1024, 200_000).map((length) => 'x'.repeat(length))
    fc.assert(
      fc.property(text, filler, text, some, (before, middle, after, wanted) => {
        const whole = `${before}${middle}${after}`
        const expected = whole
          .replace(/\n$/, '')
          .split('\n')
          .flatMap((line, index) => (line.toLowerCase().includes(wanted.toLowerCase()) ? [index + 1] : []))
        const found = searchLines(whole, wanted).matches.map(({ line }) => line)
        expect(found).toEqual(wanted === '' || wanted.includes('\n') || whole === '' ? [] : expected)
      }),
    )
  })

  test('shows the surroundings of the match in a long line, without half a surrogate pair', () => {
    const line = `${'😀'.repeat(50_000)}needle${'x'.repeat(100_000)}`
    const [excerpt = ''] = excerptsOf(searchLines(line, 'NEEDLE').matches, 'NEEDLE')
    expect(excerpt).toMatch(/^1: ….*needle.*…$/u)
    expect(excerpt.length).toBeLessThan(600)
    expect(excerpt.isWellFormed()).toBe(true)
  })

  test('keeps the first matches and counts the others', () => {
    const { matches, matchCount } = searchLines('a\n'.repeat(20_000), 'a')
    expect([matches.length, matchCount]).toEqual([10_000, 20_000])
  })
})

const hostilePattern = fc.oneof(
  fc.constantFrom('(a+)+$', '(a|a)*b', '(.*)*x', '^(([a-z])+.)+[A-Z]([a-z])+$', '(?=a)*', '\\', '[', '\0', '(?<x>'),
  fc
    .array(fc.constantFrom('(', ')', 'a', '+', '*', '$', '.', '[', ']', '{9}', '\\', '|', '?'), {
      minLength: 1,
      maxLength: 60,
    })
    .map((parts) => parts.join('')),
  fc.integer({ min: 1, max: 900 }).map((length) => `${'a'.repeat(length)}b`),
  fc.string({ minLength: 1, maxLength: 100, unit: 'binary' }),
)

test('10,000 hostile searches take less than 50 ms each', () => {
  const text = `${'a'.repeat(20_000)}\n${'ab'.repeat(5_000)}\n${'(a+)+$\n'.repeat(1_000)}`
  const took = (pattern: string) => {
    const startedMs = performance.now()
    searchLines(text, pattern)
    return performance.now() - startedMs
  }
  for (const pattern of fc.sample(hostilePattern, { numRuns: 10_000, seed: 7 })) {
    // Another process may use the CPU meanwhile: a pattern that is slow is slow each time.
    for (let time = 0; took(pattern) >= 50; time++) expect(time, pattern).toBeLessThan(10)
  }
})

test('a match is found by its number, in the result of a search', () => {
  expect(nthMatch('Found 2 files\na.ts\n\nb.ts', 2)).toEqual({ line: 4, text: 'b.ts' })
  expect(nthMatch(content, 101)).toBeNull()
})

describe('truncation', () => {
  test('leaves a content that fits unchanged', () => {
    expect(truncateToTokens(content, 2_000)).toEqual({ content, tokenCount: countTokens(content), truncated: false })
  })

  test('keeps whole lines and states exactly what is missing', () => {
    const { content: cut, tokenCount, truncated } = truncateToTokens(content, 150)
    expect(truncated).toBe(true)
    expect(tokenCount).toBe(countTokens(cut))
    expect(tokenCount).toBeLessThanOrEqual(150)
    const [, kept, left, next] =
      /^([\s\S]*)\n\[truncated: (\d+) characters left; ask for lines (\d+)-100\]$/.exec(cut) ?? []
    expect(kept?.length).toBe(content.length - Number(left))
    expect(content.startsWith(`${kept}\nline ${next}\n`)).toBe(true)
  })

  test('numbers the lines by the position that the content was cut from', () => {
    const { content: cut } = truncateToTokens(selectLines(content, '40-100').text, 100, 40)
    expect(cut).toMatch(/^line 40\n[\s\S]*ask for lines \d+-100\]$/)
  })

  test('cuts within a line only if that line alone is too long, without half a surrogate pair', () => {
    const { content: cut, tokenCount } = truncateToTokens('🧵'.repeat(1_000_000), 200)
    expect(tokenCount).toBeLessThanOrEqual(200)
    expect(cut.isWellFormed()).toBe(true)
    expect(cut).toContain('line 1 is cut; search for a text to see more')
  })

  test('returns at most the requested tokens, and a prefix of the content', () => {
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

  test('returns nearly as much as fits', () => {
    expect(truncateToTokens(content, 200).tokenCount).toBeGreaterThan(150)
  })

  test('counts a long content in slices that add up, and cuts nothing that fits', () => {
    const long = `${content}\n`.repeat(100)
    const exact = countTokens(long)
    const whole = truncateToTokens(long, exact + 10)
    expect(whole).toMatchObject({ content: long, truncated: false })
    expect(whole.tokenCount).toBeGreaterThanOrEqual(exact)
    expect(whole.tokenCount).toBeLessThan(exact * 1.001)
  })

  test('of matches states how many are left, and where', () => {
    const found = searchLines(content, 'line')
    const excerpts = excerptsOf(found.matches, 'line')
    const cut = (tokensMax: number, fields: Partial<{ matches: LineMatch[]; matchCount: number }> = {}) =>
      finish(recall.truncateMatches(excerpts, { ...found, lastLine: 100, ...fields }, tokensMax))
    expect(cut(5_000)).toMatchObject({ content: excerpts.join('\n'), truncated: false })
    const { content: text, tokenCount, truncated } = cut(200)
    const [, left, next] = /\[truncated: (\d+) of 100 matches left; search again in lines (\d+)-100,/.exec(text) ?? []
    expect(truncated).toBe(true)
    expect(tokenCount).toBeLessThanOrEqual(200)
    expect(text.split('\n').slice(0, -1)).toEqual(excerpts.slice(0, 100 - Number(left)))
    expect(Number(next)).toBe(101 - Number(left))
    expect(cut(5).tokenCount).toBeLessThanOrEqual(5)
    // More matches were counted than are kept.
    expect(cut(5_000, { matchCount: 120 })).toMatchObject({ truncated: true })
  })
})

describe('pieces', () => {
  test('that are consecutive make up the content, without half surrogate pairs', () => {
    const some = fc.array(fc.constantFrom('a', '\n', 'é', '😀'), { maxLength: 30 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(some, fc.integer({ min: 1, max: 5 }), (text, limit) => {
        let joined = ''
        for (let offset: number | null = 0; offset !== null; ) {
          const piece = cutPiece(text, offset, limit)
          expect(piece.text.isWellFormed()).toBe(true)
          expect(piece.text.length).toBeLessThanOrEqual(Math.max(limit, 2))
          joined += piece.text
          offset = piece.nextOffset
        }
        expect(joined).toBe(text)
      }),
    )
  })

  test('past the end are empty', () => {
    expect(cutPiece('abc', 3, 5)).toEqual({ text: '', nextOffset: null })
    expect(cutPiece('abc', 99, 5)).toEqual({ text: '', nextOffset: null })
  })
})
