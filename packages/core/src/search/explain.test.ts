import { expect, test } from 'vitest'
import type { Message } from '../conversation/message.js'
import { finish } from '../recall/steps.js'
import { toolCatalogOf } from '../tools/catalog.js'
import { findPostings } from './blocks.js'
import { searchDocument } from './document.js'
import { explainWords } from './explain.js'
import { rankWords } from './rank/rank.js'
import { postedTerms, searchQuery, wordQuery } from './search-query.js'
import { buildSegment } from './segment.js'

const long = `${'Nothing of it here. '.repeat(40)}The loom of Ann broke in March. ${'Nor there. '.repeat(40)}`
const texts = [
  { role: 'user', content: 'Where is the loom?', name: 'Ann' },
  { role: 'assistant', content: 'The loom is in the barn, since March 3.' },
  { role: 'user', content: 'And the weft?' },
  { role: 'user', content: long },
  { role: 'assistant', content: 'The weft and the loom of the barn are for sale.' },
  { role: 'user', content: 'Good.' },
] as const

function explained(question: string) {
  const documents = texts.map(({ role, content, ...named }, index) => {
    const message = { role, content, toolCalls: [], toolName: null } satisfies Partial<Message>
    const metadata = 'name' in named ? { name: named.name } : null
    return {
      thread: 1,
      seq: index + 1,
      ...searchDocument({ ...message, metadata }, { call: null, catalog: toolCatalogOf([]) }),
    }
  })
  const segment = buildSegment(documents)
  const query = searchQuery(question, null)
  const lists = new Map<string, Uint8Array[]>()
  for (const { bytes } of segment.blocks) {
    for (const [term, list] of findPostings(bytes, postedTerms(query)))
      lists.set(term, [...(lists.get(term) ?? []), list])
  }
  const weights = { neighbours: [0.5, 0.2], thread: 0.3, speaker: 2, replies: 0.5, names: 1.6, times: 0.2 }
  const parts = wordQuery(query, {
    listsOf: (term) => lists.get(term) ?? [],
    only: { thread: null, conditions: [] },
    scope: segment,
    threadLengths: new Map([[1, segment.length]]),
    weights,
  })
  const ranked = finish(rankWords({ ...parts, limit: 100 })).documents
  return { ranked, explanations: finish(explainWords({ ...parts, limit: 100 }, ranked)) }
}

test.each(['When did the loom of Ann break?', 'weft', 'Where is the barn?', 'Ann', 'loom in March'])(
  'the parts of a score add up to it: %s',
  (question) => {
    const { ranked, explanations } = explained(question)
    expect(ranked.length).toBeGreaterThan(1)
    for (const [index, { score }] of ranked.entries()) {
      const { side, times, passageScore, neighbours, thread, speaker } = explanations[index] ?? expect.fail('none')
      expect(side * times * (passageScore + neighbours + thread + speaker)).toBeCloseTo(score, 8)
    }
  },
)

test('an explanation names the passage and its terms, the rarest first', () => {
  const { ranked, explanations } = explained('When did the loom of Ann break?')
  const index = ranked.findIndex(({ seq }) => seq === 4)
  const of = explanations[index]
  expect(of?.passage).toBeGreaterThan(1)
  expect(of?.terms.map(({ term }) => term).sort()).toEqual(['ann', 'loom'])
  expect(of?.times).toBe(1.2)
  expect(explanations[ranked.findIndex(({ seq }) => seq === 6)]).toMatchObject({ passage: null, terms: [], share: 0 })
})
