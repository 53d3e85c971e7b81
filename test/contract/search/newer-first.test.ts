import { createHashingEmbedder } from '@heddle/models'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshStore, prepared, RECEIVED_AT_MS, type TestStore } from '../store/support.js'
import { clientOn, PROJECT_NAME, said } from './support.js'

let database: TestStore

beforeAll(async () => {
  database = await freshStore()
  await said(database, { thread: 'essay' }, [
    prepared({ content: 'My reading list for the essay has 45 sources, all tagged.', sourceId: 'old' }),
    prepared({ role: 'assistant', content: 'A reading list of 45 sources is plenty for an essay.', sourceId: 'reply' }),
    prepared({ content: 'Should the essay quote them all?' }),
  ])
  await said(database, { thread: 'later' }, [
    prepared(
      { content: 'I added 52 sources to the list that I read for it.', sourceId: 'new' },
      { orderedAtMs: RECEIVED_AT_MS + 60_000 },
    ),
  ])
  await said(database, { thread: 'garden' }, [
    prepared({
      content: 'I water 12 plants in the garden on the balcony, if nobody else has done so before breakfast.',
      sourceId: 'few',
    }),
    prepared({ role: 'assistant', content: 'Good.' }),
    prepared({ content: 'My balcony garden has now reached 30 plants.', sourceId: 'many' }),
  ])
})
afterAll(() => database.drop())

describe('of two statements of one value', () => {
  const question = 'How many sources are on the reading list for my essay?'
  const search = async (query: string, limit = 20) =>
    (await clientOn(database).search({ query, by: 'words', limit })).items

  it('the newer ranks first, and the older says which message replaces it', async () => {
    const hits = await search(question)
    const [newest, older] = ['new', 'old'].map((id) => hits.find(({ sourceId }) => sourceId === id))
    expect(hits.indexOf(newest as (typeof hits)[number])).toBeLessThan(hits.indexOf(older as (typeof hits)[number]))
    expect(older?.supersededBy).toBe(newest?.messageId)
    expect(hits.filter(({ supersededBy }) => supersededBy !== null)).toEqual([older])
    expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).sort((left, right) => right - left))
  })

  it('the newer is found by a search for one result', async () => {
    expect((await search(question, 1)).map(({ sourceId }) => sourceId)).toEqual(['new'])
  })

  it('an explanation says so, and how the score of the ranking came about', async () => {
    const { items } = await clientOn(database).search({ query: question, by: 'words', explain: true })
    const newest = items.find(({ sourceId }) => sourceId === 'new')?.explanation
    expect(newest?.rule).toBe('newer')
    expect(items[0]?.score).toBeGreaterThan(newest?.score ?? 0)
    const { terms, passageScore, neighbours, thread, speaker, side, times } = newest?.words ?? expect.fail('no words')
    expect(terms.map(({ term }) => term)).toEqual(expect.arrayContaining(['read', 'sourc']))
    expect(side * times * (passageScore + neighbours + thread + speaker)).toBeCloseTo(newest?.score ?? 0, 6)
    expect(newest?.vectors).toBeNull()
    expect((await search(question)).every(({ explanation }) => explanation === null)).toBe(true)
  })

  it('an explanation names no rule for a newer one that was first already', async () => {
    const asked = { query: 'How many plants are in my balcony garden?', by: 'words', thread: 'garden' } as const
    const { items } = await clientOn(database).search({ ...asked, explain: true })
    const [first, second] = items
    expect([first?.sourceId, second?.sourceId]).toEqual(['many', 'few'])
    expect(second?.supersededBy).toBe(first?.messageId)
    expect(items.map(({ explanation }) => explanation?.rule)).toEqual(items.map(() => null))
  })

  it('an explanation of a search by meaning has the similarity', async () => {
    const embedder = createHashingEmbedder()
    const client = clientOn(database, PROJECT_NAME, { embedder })
    const { items } = await client.search({ query: 'reading list sources', by: 'meaning', explain: true })
    const { words, vectors, score } = items[0]?.explanation ?? expect.fail('no explanation')
    expect(words).toBeNull()
    expect(vectors?.cosine).toBeGreaterThan(0)
    expect(vectors?.score).toBe(score)
  })

  it('both stay in their order for a question that asks for no value', async () => {
    const hits = await search('sources of the reading list for my essay')
    expect(hits[0]).toMatchObject({ sourceId: 'old', supersededBy: null })
    expect(hits.every(({ supersededBy }) => supersededBy === null)).toBe(true)
  })
})
