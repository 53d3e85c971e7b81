import { expect, test } from 'vitest'
import { finish } from '../../recall/steps.js'
import { findPostings } from '../blocks.js'
import { kindTerm, speakerTerm } from '../document.js'
import { kindsOf } from '../memberships.js'
import { buildSegment, type Segment } from '../segment.js'
import { asksForTime, namesTime } from '../terms/time-words.js'
import { termsOf } from '../terms/words.js'
import type { WordQuery } from '../word-query.js'
import { rankWords } from './rank.js'

interface Said {
  readonly thread: number
  readonly text: string
  readonly by?: string
}

/** Messages in the order of their threads, each in a segment of its own if `apart`. */
function indexed(messages: readonly Said[], apart = false): Segment[] {
  const next = new Map<number, number>()
  const documents = messages.map(({ thread, text, by = 'ann' }) => {
    const seq = (next.get(thread) ?? 0) + 1
    next.set(thread, seq)
    const found = [...termsOf(text)]
    const terms = new Map<string, number[]>()
    for (const term of found) terms.set(term, [0, (terms.get(term)?.[1] ?? 0) + 1])
    terms.set(kindTerm(by === 'tool' ? 'bash' : by === 'model' ? 'assistant' : 'user'), [0, 1])
    terms.set(speakerTerm(by), [0, 1])
    const dated = new Set(namesTime(text) ? [0] : [])
    return { thread, seq, terms, length: found.length, isReply: by === 'model', dated }
  })
  return apart ? documents.map((document) => buildSegment([document])) : [buildSegment(documents)]
}

function listsOf(segments: readonly Segment[], term: string): Uint8Array[] {
  return segments.flatMap(({ blocks }) => blocks.flatMap(({ bytes }) => [...findPostings(bytes, [term]).values()]))
}

const alone = { neighbours: [], thread: 0, speaker: 0, replies: 1, names: 1, times: 0 }

function ranked(segments: readonly Segment[], query: string, fields: Partial<WordQuery> = {}) {
  const terms = [...termsOf(query)]
  const scope = {
    documents: segments.reduce((sum, { documents }) => sum + documents, 0),
    length: segments.reduce((sum, { length }) => sum + length, 0),
  }
  const lengths = new Map(segments.flatMap(({ threads }) => threads.map((thread) => [thread, 10] as const)))
  const { documents, found } = finish(
    rankWords({
      terms: terms.map((term) => ({
        term,
        lists: listsOf(segments, term),
        speakers: listsOf(segments, speakerTerm(term)),
        weight: 1,
      })),
      replies: listsOf(segments, kindTerm('assistant')),
      asksForTime: asksForTime(query),
      only: { thread: null, conditions: [] },
      scope,
      threadLengths: lengths,
      weights: alone,
      limit: 100,
      ...fields,
    }),
  )
  return { found, places: documents.map(({ thread, seq }) => `${thread}.${seq}`), documents }
}

const loom = [
  { thread: 1, text: 'the loom is broken' },
  { thread: 1, text: 'a part of the machine' },
  { thread: 1, text: 'fetch the weft' },
  { thread: 2, text: 'weft and warp' },
  { thread: 2, text: 'nothing of interest', by: 'warp' },
  { thread: 2, text: 'a warp that is much longer than any of the other messages that are here', by: 'tool' },
]

test('a rare word counts for more than a frequent one, and a short text for more than a long one', () => {
  const segments = indexed(loom)
  expect(ranked(segments, 'loom weft').places[0]).toBe('1.1')
  expect(ranked(segments, 'warp').places).toEqual(['2.1', '2.3'])
  expect(ranked(segments, 'warp weft').places[0]).toBe('2.1')
  expect(ranked(segments, 'unheard').places).toEqual([])
})

test('a long text with two words of the query is before a short one with one of them', () => {
  const messages = [
    { thread: 1, text: `loom weft ${'word '.repeat(58)}` },
    { thread: 2, text: 'loom' },
    { thread: 3, text: 'weft' },
    ...Array.from({ length: 20 }, (_, index) => ({ thread: 4 + index, text: 'one two three four five' })),
  ]
  expect(ranked(indexed(messages), 'loom weft').places[0]).toBe('1.1')
})

test('the order and the scores are the same however the postings are divided', () => {
  const weights = { ...alone, neighbours: [0.4, 0.1], thread: 0.3, speaker: 2, replies: 0.5 }
  const [together, apart] = [indexed(loom), indexed(loom, true)]
  for (const query of ['loom weft warp', 'machine', 'broken']) {
    const [left, right] = [ranked(together, query, { weights }), ranked(apart, query, { weights })]
    expect(right.places).toEqual(left.places)
    for (const [index, { score }] of right.documents.entries()) {
      expect(score).toBeCloseTo(left.documents[index]?.score ?? 0, 10)
    }
  }
})

test('the order and the scores are the same if lists of one thread overlap', () => {
  const passages = [0, 2, 5]
  const documents = Array.from({ length: 40 }, (_, at) => ({
    thread: 1,
    seq: at + 1,
    terms: new Map([
      ['loom', passages.slice(0, 1 + (at % 3)).flatMap((passage) => [passage, 1])],
      [at % 2 === 0 ? 'weft' : 'warp', [passages[at % 3] ?? 0, 1 + (at % 4)]],
    ]),
    length: 10 + at,
    isReply: false,
    dated: new Set<number>(),
  }))
  const weights = { ...alone, neighbours: [0.4, 0.1], thread: 0.3 }
  const together = ranked([buildSegment(documents)], 'loom weft warp', { weights })
  const parts = [0, 1, 2].map((part) => buildSegment(documents.filter(({ seq }) => seq % 3 === part)))
  // With the two places after the last message.
  expect(together.documents).toHaveLength(42)
  expect(ranked(parts, 'loom weft warp', { weights }).documents).toEqual(together.documents)
})

test('neighbors of a match are found too, nearer ones with higher scores, but never in another thread', () => {
  const weights = { ...alone, neighbours: [0.4, 0.1] }
  expect(ranked(indexed(loom), 'loom', { weights }).places).toEqual(['1.1', '1.2', '1.3'])
  expect(ranked(indexed(loom), 'loom').places).toEqual(['1.1'])
})

test('a thread about the query raises its messages', () => {
  const messages = [
    { thread: 1, text: 'weft' },
    { thread: 2, text: 'weft' },
    { thread: 2, text: 'loom and warp' },
  ]
  const order = (thread: number) => {
    const { places } = ranked(indexed(messages), 'weft loom warp', { weights: { ...alone, thread } })
    return places.indexOf('2.1') - places.indexOf('1.1')
  }
  expect(ranked(indexed(messages), 'weft loom warp', { weights: { ...alone, thread: 1 } }).places).toEqual([
    '2.2',
    '2.1',
    '1.1',
  ])
  expect(Math.abs(order(0))).toBe(1)
})

test('messages of a speaker named in the query are preferred among the matches', () => {
  const messages = [
    { thread: 1, text: 'I like the loom', by: 'bob' },
    { thread: 1, text: 'I like the loom', by: 'ann' },
    { thread: 1, text: 'of something else', by: 'bob' },
  ]
  expect(ranked(indexed(messages), 'bob loom').places).toEqual(['1.2', '1.1'])
  expect(ranked(indexed(messages), 'bob loom', { weights: { ...alone, speaker: 1 } }).places).toEqual(['1.1', '1.2'])
})

test('what a model wrote counts for less than what it repeats', () => {
  const messages = [
    { thread: 1, text: 'the loom is made of oak', by: 'ann' },
    { thread: 2, text: 'the loom is of oak', by: 'model' },
  ]
  expect(ranked(indexed(messages), 'loom oak').places).toEqual(['2.1', '1.1'])
  expect(ranked(indexed(messages), 'loom oak', { weights: { ...alone, replies: 0.5 } }).places).toEqual(['1.1', '2.1'])
})

test('a text that names a time answers a question about time', () => {
  const messages = [
    { thread: 1, text: 'the loom broke', by: 'ann' },
    { thread: 1, text: 'the loom broke once more last Friday', by: 'ann' },
  ]
  const weights = { ...alone, times: 0.5 }
  expect(ranked(indexed(messages), 'loom broke', { weights }).places).toEqual(['1.1', '1.2'])
  expect(ranked(indexed(messages), 'when loom broke', { weights }).places).toEqual(['1.2', '1.1'])
})

test('a long message is scored by its best passage', () => {
  const terms = (passages: Readonly<Record<string, number>>) =>
    new Map(Object.entries(passages).map(([term, passage]) => [term, [passage, 1]] as const))
  const document = { length: 400, isReply: false, dated: new Set<number>() }
  const segments = [
    buildSegment([
      { ...document, thread: 1, seq: 1, terms: terms({ loom: 0, warp: 3 }) },
      { ...document, thread: 2, seq: 1, terms: terms({ loom: 5, warp: 5 }) },
    ]),
  ]
  expect(ranked(segments, 'loom warp').places).toEqual(['2.1', '1.1'])
})

test('conditions and the thread exclude documents, but rarity counts all of them', () => {
  const segments = indexed(loom)
  const bash = listsOf(segments, kindTerm('bash'))
  expect(ranked(segments, 'warp', { only: { thread: null, conditions: [bash] } }).places).toEqual(['2.3'])
  expect(ranked(segments, 'weft', { only: { thread: 1, conditions: [] } }).places).toEqual(['1.3'])
  expect(ranked(segments, 'weft', { only: { thread: null, conditions: [bash, []] } }).places).toEqual([])
  const lists = new Map([['bash', bash] as const])
  expect(
    kindsOf(
      [
        { thread: 2, seq: 3 },
        { thread: 2, seq: 1 },
      ],
      lists,
    ),
  ).toEqual(['bash', null])
})

test('the limit keeps the best, and the total is reported', () => {
  const messages = Array.from({ length: 50 }, (_, index) => ({
    thread: index + 1,
    text: `loom ${'word '.repeat(index)}`,
  }))
  const { places, found } = ranked(indexed(messages), 'loom', { limit: 3 })
  expect([found, places.length, places[0]]).toEqual([50, 3, '1.1'])
})
