import { expect, test } from 'vitest'
import type { Statement } from '../updates/statement.js'
import { asksForOrder, coverTime } from './cover-time.js'

const QUESTION = 'In which order did I bring up aspects of my garden?'

test.each([
  ['Can you list in order how I brought up my essays?', true],
  ['Walk me through the order in which we fixed the bugs', true],
  ['Give me a timeline of the release', true],
  ['What must I do in order to release?', false],
  ['Which order number has the parcel?', false],
  ['When did I plant the roses?', false],
])('%s: %s', (question, isOfOrder) => {
  expect(asksForOrder(question)).toBe(isOfOrder)
})

/** Forty statements about a garden, of which the last thirty have more of the question's words. */
function statements(): Statement[] {
  return Array.from({ length: 40 }, (_, index) => ({
    text: index < 10 ? `I plan bed ${index} of the garden` : `I plan an aspect of garden ${index}, garden aspects`,
    isOfPerson: true,
    atMs: 0,
    seq: index + 1,
  }))
}

test('the best statements of each part of the time come first', () => {
  const first = coverTime(QUESTION, statements())
  expect(first).toHaveLength(10)
  const parts = first.map((index) => Math.floor(index / 4)).sort((left, right) => left - right)
  expect(parts).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('a time counts before a place, and the better of two statements of a part', () => {
  const two = statements().slice(0, 2)
  const reversed = two.map((statement, index) => ({ ...statement, atMs: 10 - index }))
  expect(coverTime(QUESTION, reversed).sort()).toEqual([0, 1])
  const crowded = Array.from({ length: 20 }, (_, index) => ({
    text: index % 2 === 0 ? 'a bed of gardenias' : 'a bed of my garden',
    isOfPerson: true,
    atMs: index,
    seq: 1,
  }))
  expect(coverTime(QUESTION, crowded).every((index) => index % 2 === 1)).toBe(true)
})

test('replies of a model, messages that carry on, and others without a word of the question are not spread', () => {
  const [statement] = statements()
  if (statement === undefined) throw new Error('no statement')
  const kept = [
    statement,
    { ...statement, isOfPerson: false },
    { ...statement, text: 'Yeah, and what about the garden?' },
    { ...statement, text: 'My cat sleeps' },
    { ...statement, text: '```\ngarden\n```' },
  ]
  expect(coverTime(QUESTION, kept)).toEqual([0])
})

test('what a statement says in its first words counts more', () => {
  const late = 'I plan what I shall do with all the time of my next holidays, perhaps in the garden'
  const crowded = Array.from({ length: 20 }, (_, index) => ({
    text: index % 2 === 0 ? late : 'I plan a bed of my garden',
    isOfPerson: true,
    atMs: index,
    seq: 1,
  }))
  expect(coverTime(QUESTION, crowded).every((index) => index % 2 === 1)).toBe(true)
})

test('a name stands for the word of the question that it was introduced with', () => {
  const texts = [
    'I will meet my new mentor, Robert, in the library',
    'How can I use the essay that Robert gave me?',
    'Does Robert see it?',
    ...Array.from({ length: 17 }, (_, index) => `I water bed ${index} near Paul`),
  ]
  const spoken = texts.map((text, index) => ({ text, isOfPerson: true, atMs: index, seq: 1 }))
  expect(coverTime('In which order did I mention my mentorship?', spoken)).toEqual([0, 1, 2])
})

test('a lasting instruction by itself is no event, and one within a message is', () => {
  const texts = ['Always name the garden when I ask about plants.', `I plant the garden. ${'And so on. '.repeat(30)}`]
  const spoken = texts.map((text, index) => ({ text, isOfPerson: true, atMs: index, seq: 1 }))
  expect(coverTime(QUESTION, spoken)).toEqual([1])
})

test('any other question keeps its order', () => {
  expect(coverTime('Where is my garden?', statements())).toEqual([])
})
