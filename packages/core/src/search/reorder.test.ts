import { expect, test } from 'vitest'
import { comparedResults, reorder } from './reorder.js'

const said = (text: string, seq: number) => ({ text, isOfPerson: true, speaker: null, atMs: 0, seq, score: 1 })

test('few questions need the texts of their results', () => {
  expect(comparedResults('Why does the build fail?')).toBe(0)
  expect(comparedResults('How many tests are skipped?')).toBeGreaterThan(0)
  expect(comparedResults('In which order did the tests fail?')).toBeGreaterThan(comparedResults('How many tests fail?'))
})

test('every result has one place, whatever the rules put first', () => {
  const results = [
    said('The suite has 40 tests', 1),
    said('thanks', 2),
    said('The suite of tests has grown to 55 tests', 3),
  ]
  expect(reorder('How many tests are in the suite?', results)).toEqual({
    order: [2, 0, 1],
    covering: new Set(),
    replacedBy: [2, null, null],
  })
  expect(new Set(reorder('In which order did I write the tests?', results).order)).toEqual(new Set([0, 1, 2]))
  expect(reorder('Why?', results)).toEqual({ order: [0, 1, 2], covering: new Set(), replacedBy: [null, null, null] })
})

test.each(['How many tests are in the suite?', 'Give me a timeline of how many tests are in the suite'])(
  '%s: only among its first twenty results statements replace each other',
  (question) => {
    const results = (distance: number) => [
      said('The suite has 40 tests', 1),
      ...Array.from({ length: distance - 1 }, (_, index) => said('thanks', index + 2)),
      said('The suite of tests has grown to 55 tests', 100),
      said('thanks', 101),
    ]
    expect(reorder(question, results(19)).replacedBy[0]).toBe(19)
    const { order, replacedBy } = reorder(question, results(20))
    expect(replacedBy).toEqual(Array.from({ length: 22 }, () => null))
    expect([...order].sort((left, right) => left - right)).toEqual(Array.from({ length: 22 }, (_, index) => index))
  },
)
