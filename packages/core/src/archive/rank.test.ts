import { expect, test } from 'vitest'
import { finish } from '../recall/steps.js'
import { rankByWords } from './rank.js'

const documents = [
  { label: 'failed: cannot find module parser', content: 'npm test\nerror' },
  { label: 'src/parser.ts 120 lines: parseTokens, Parser', content: 'export function parseTokens() {}' },
  { label: 'README.md 3 lines', content: `${'the parser reads. '.repeat(3)}Nothing else.` },
  { label: 'src/other.ts', content: 'export const other = 1' },
]
const order = (query: string) => {
  const scores = finish(rankByWords(query, documents))
  return documents
    .flatMap((_, index) => ((scores[index] ?? 0) > 0 ? [index] : []))
    .sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0))
}

test('what holds more of the words, and the rarer ones, comes first; what holds none is left out', () => {
  expect(order('module parser')[0]).toBe(0)
  expect(order('parser').sort()).toEqual([0, 1, 2])
  expect(order('export').sort()).toEqual([1, 3])
  expect(order('absent')).toEqual([])
  expect(order('!?')).toEqual([])
})

test('names in code are found by their parts, however they are spelled', () => {
  expect(order('parse tokens')[0]).toBe(1)
  expect(order('parse_tokens')[0]).toBe(1)
  expect(order('PARSETOKENS')).toEqual([])
})

test('words in what says what an entry is count more than those in its content', () => {
  const scores = finish(
    rankByWords('needle', [
      { label: 'x', content: 'needle in here' },
      { label: 'needle', content: 'nothing in here' },
    ]),
  )
  expect(scores[1]).toBeGreaterThan(scores[0] ?? 0)
})
