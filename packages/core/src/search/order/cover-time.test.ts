import { expect, test } from 'vitest'
import type { RankedStatement } from '../updates/statement.js'
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

function said(text: string, index: number, changed: Partial<RankedStatement> = {}): RankedStatement {
  return { text, isOfPerson: true, speaker: null, atMs: index, seq: 1, score: 1, ...changed }
}

/** Forty statements about a garden, of which the last thirty have more of the question's words. */
function statements(): RankedStatement[] {
  return Array.from({ length: 40 }, (_, index) =>
    said(
      index < 10 ? `I plan bed ${index} of the garden` : `I plan an aspect of garden ${index}, garden aspects`,
      index,
    ),
  )
}

test('statements of the whole time come first, also where others have more of the words', () => {
  const first = coverTime(QUESTION, statements())
  expect(first).toHaveLength(10)
  const quarters = first.map((index) => Math.floor(index / 10))
  expect(new Set(quarters)).toEqual(new Set([0, 1, 2, 3]))
})

test('of two statements at one time the one that says it earlier comes first', () => {
  const late = 'I plan what I shall do with all the time of my next holidays, perhaps in the garden'
  const crowded = Array.from({ length: 20 }, (_, index) =>
    said(index % 2 === 0 ? late : 'I plan a bed of my garden', index),
  )
  expect(
    coverTime(QUESTION, crowded)
      .slice(0, 5)
      .every((index) => index % 2 === 1),
  ).toBe(true)
})

test('replies of a model and messages without a term of the question are not spread', () => {
  const kept = [
    said('I plan the garden', 0),
    said('I plan the garden', 1, { isOfPerson: false }),
    said('My cat sleeps', 2),
    said('```\ngarden\n```', 3),
  ]
  expect(coverTime(QUESTION, kept)).toEqual([0])
})

test.each([
  ['carries on', 'Yeah, and what about the garden?'],
  ['is a lasting instruction', 'Always name the garden when I ask about plants.'],
])('a message that %s comes after those that open a subject', (_, text) => {
  const kept = [said(text, 0), said(`I plan the garden. ${'And so on. '.repeat(30)}`, 1)]
  expect(coverTime(QUESTION, kept)).toEqual([1, 0])
})

test('the name of a speaker chooses whose statements count, not those that address her', () => {
  const question = 'In what order did Ann bring up aspects of her garden?'
  const kept = [
    said('Ann, your garden is lovely, Ann', 0, { speaker: 'Bob' }),
    said('I sowed peas in the garden', 1, { speaker: 'Ann' }),
    said('My garden has a fence now', 2, { speaker: 'Ann' }),
  ]
  expect(coverTime(question, kept).at(-1)).toBe(0)
})

test('the name of whom the asker addressed lowers no message of the asker', () => {
  const question = 'In what order did I tell Ann about my garden?'
  const kept = [
    said('My garden has new beds, a garden of peas', 0),
    said('Something else that I planted at home, far behind the garden', 1, { speaker: 'Ann' }),
  ]
  expect(coverTime(question, kept)).toEqual([0, 1])
})

test('of equal words the place in the ranking decides, which knows neighbours, threads and vectors', () => {
  const kept = [said('I plan the garden', 0, { score: 2 }), said('I plan the garden', 1, { score: 5 })]
  expect(coverTime(QUESTION, kept)).toEqual([1, 0])
})

test('a name stands for the word of the question that it was introduced with', () => {
  const texts = [
    'I will meet my new mentor, Robert, in the library',
    'How can I use the essay that Robert gave me?',
    'Does Robert see it?',
    ...Array.from({ length: 17 }, (_, index) => `I water bed ${index} near Paul`),
  ]
  const found = coverTime(
    'In which order did I mention my mentorship?',
    texts.map((text, index) => said(text, index)),
  )
  expect(new Set(found)).toEqual(new Set([0, 1, 2]))
})

test('any other question keeps its order', () => {
  expect(coverTime('Where is my garden?', statements())).toEqual([])
})
