import { expect, test } from 'vitest'
import { baselines } from './baselines.js'
import { isOnlyNames, namesOf } from './names.js'
import { rouge } from './rouge.js'
import { textRank } from './text-rank.js'

test('names are the last segments of paths, and identifiers of two parts', () => {
  const text = 'Edit packages/a/time-zone.ts: parseTime and MAX_LENGTH, not JSONParser of the README'
  expect([...namesOf(text)]).toEqual(['time-zone.ts', 'parseTime', 'MAX_LENGTH', 'JSONParser'])
})

test('a line with too little text around its names counts as a list of names', () => {
  expect(isOnlyNames('- `src/a.ts`, parseTime, formatTime [recall:msg-abcd0000]')).toBe(true)
  expect(isOnlyNames('- `src/a.ts`: edited 2 times; defines parseTime')).toBe(false)
  const names = Array.from({ length: 12 }, (_, index) => `name_${index}`).join(', ')
  expect(isOnlyNames(`- src/a.ts: edited 2 times; defines ${names}`)).toBe(true)
  expect(isOnlyNames('## Files')).toBe(false)
})

test('shared words, word pairs and order are divided by both lengths', () => {
  expect(rouge('The cat sat', 'the cat sat')).toEqual({ rouge1: 1, rouge2: 1, rougeL: 1 })
  const { rouge1, rouge2, rougeL } = rouge('sat the cat', 'the cat sat down')
  expect(rouge1).toBeCloseTo(6 / 7)
  expect(rouge2).toBeCloseTo(2 / 5)
  expect(rougeL).toBeCloseTo(4 / 7)
})

test('the sentences most similar to others are taken, in their order and within the token limit', () => {
  const loom = ['The heddle lifts the warp threads.', 'A shuttle carries the weft through warp threads.']
  const text = `${loom[0]} Nobody expects rain before next winter. ${loom[1]} The heddle guides warp threads.`
  expect(textRank([text], 20).split('\n')).toEqual([loom[0], 'The heddle guides warp threads.'])
})

test('the trivial baselines have the length of a summary', () => {
  const source = { reference: '', role: 'user', toolName: null, isError: false, pinned: false, orderedAtMs: 0 } as const
  const words = Array.from({ length: 300 }, (_, index) => `word${index}`).join(' ')
  expect(baselines.last([{ ...source, text: words }], 20)).toMatch(/word299$/)
  expect(baselines.edges([{ ...source, text: words }], 20)).toMatch(/^word0 [\s\S]*word299$/)
})
