import { expect, test } from 'vitest'
import { finish } from '../recall/steps.js'
import { findPostings } from './blocks.js'
import { speakerTerm } from './document.js'
import { byRelevance, type Judged } from './relevance.js'
import { buildSegment } from './segment.js'
import { termsOf } from './terms/words.js'

const model = 'Xenova/all-MiniLM-L6-v2'
const said = [
  { thread: 1, seq: 1, text: 'the beam of the loom', by: 'ann' },
  { thread: 1, seq: 2, text: 'it is of oak', by: 'bob' },
  { thread: 1, seq: 3, text: 'lunch is ready', by: 'ann' },
  ...['warp', 'weft', 'shed', 'reed', 'pick'].map((text, index) => ({ thread: 2, seq: index + 1, text, by: 'eve' })),
]

/** As in a ranking: only the order of the scores matters. */
const ranked = said.slice(0, 3).map(({ thread, seq }) => ({ thread, seq, score: 90 - 10 * seq }))

function judged(asked: string, changed: Partial<Judged> = {}) {
  const documents = said.map(({ thread, seq, text, by }) => {
    const found = [...termsOf(text)]
    const terms = new Map([...found, speakerTerm(by)].map((term) => [term, [0, 1]]))
    return { thread, seq, terms, length: found.length, isReply: false, dated: new Set<number>() }
  })
  const segment = buildSegment(documents)
  const listsOf = (term: string) => segment.blocks.flatMap(({ bytes }) => [...findPostings(bytes, [term]).values()])
  const terms = [...termsOf(asked)].map((term) => ({
    term,
    lists: listsOf(term),
    speakers: listsOf(speakerTerm(term)),
    weight: 1,
  }))
  const query = { terms, scope: { documents: said.length, length: segment.length } }
  const found = finish(byRelevance({ documents: ranked, query, vectors: [], model: null, ...changed }))
  return Object.fromEntries(found.map(({ thread, seq, score }) => [`${thread}.${seq}`, Number(score.toFixed(2))]))
}

test('a document with all query words scores 1, its neighbors half, and others nothing', () => {
  expect(judged('loom beam')).toEqual({ '1.1': 1, '1.2': 0.5, '1.3': 0 })
})

test('words that no document has count too, and so do speakers', () => {
  expect(judged('loom unheard')['1.1']).toBe(0.5)
  expect(judged('ann beam')['1.1']).toBe(1)
  expect(judged('unheard')['1.1']).toBe(0)
  expect(judged('')).toEqual({ '1.1': 0, '1.2': 0, '1.3': 0 })
})

test('a paraphrase is as good as a literal match, and ranks above a partial match', () => {
  const vectors = [
    { thread: 1, seq: 3, cosine: 0.8 },
    { thread: 1, seq: 2, cosine: 0.1 },
  ]
  const found = judged('loom unheard', { vectors, model })
  expect(found).toEqual({ '1.3': 0.8, '1.1': 0.5, '1.2': 0.25 })
  expect(Object.keys(found)).toEqual(['1.3', '1.1', '1.2'])
})
