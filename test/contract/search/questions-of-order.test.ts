import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshStore, prepared, type TestStore } from '../store/support.js'
import { clientOn, said } from './support.js'

const FIRST = 10
const question = 'In what order did Ann bring up different aspects of her garden?'

let database: TestStore

/** Ann names her garden at the beginning once, and later in each message more often; Bob talks to her about it. */
beforeAll(async () => {
  database = await freshStore()
  await said(database, { thread: 'letters' }, [
    by('Ann', 'I would like to have a bed of peas in what is left of the garden.', 'peas'),
    ...Array.from({ length: 10 }, (_, index) => by('Bob', `The weather of day ${index} was fine.`)),
    ...Array.from({ length: 14 }, (_, index) => by('Ann', `My garden, the garden of roses ${index}, is a garden.`)),
    by('Bob', 'Ann, your garden is the garden of gardens, Ann.', 'praise'),
  ])
})
afterAll(() => database.drop())

function by(name: string, content: string, sourceId?: string) {
  return prepared({ content, metadata: { name }, ...(sourceId !== undefined && { sourceId }) })
}

describe('a question of order', () => {
  const search = async (query: string) => {
    const { items } = await clientOn(database).search({ query, by: 'words', explain: true })
    return items
  }

  it('is answered over the whole time, by the speaker whom it names, and explanations say so', async () => {
    const hits = await search(question)
    const place = (id: string) => hits.findIndex(({ sourceId }) => sourceId === id)
    expect(place('peas')).toBeLessThan(FIRST)
    expect(hits[place('peas')]?.explanation?.rule).toBe('coverage')
    expect(place('praise')).toBeGreaterThanOrEqual(FIRST)
    expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).sort((left, right) => right - left))
  })

  it('is ranked as any other without its words of order', async () => {
    const hits = await search('different aspects that Ann has of her garden')
    expect(hits.findIndex(({ sourceId }) => sourceId === 'peas')).toBeGreaterThanOrEqual(FIRST)
    expect(hits.map(({ explanation }) => explanation?.rule)).toEqual(hits.map(() => null))
  })
})
