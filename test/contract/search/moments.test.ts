import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshStore, prepared, type TestStore } from '../store/support.js'
import { clientOn, said } from './support.js'

let database: TestStore
const saidOn = (date: string, sourceId: string, content: string) => {
  const sentAt = `${date}T12:00:00Z`
  return prepared({ content, sourceId, sentAt }, { orderedAtMs: Date.parse(sentAt) })
}

beforeAll(async () => {
  database = await freshStore()
  await said(database, { thread: 'climbing' }, [
    saidOn('2024-01-10', 'plan', 'I will climb the north tower on 2024-05-20.'),
    saidOn('2024-03-02', 'south', 'Yesterday I did climb the south tower.'),
    saidOn('2024-04-01', 'love', 'I love to climb any tower.'),
  ])
})
afterAll(() => database.drop())

const search = async (conditions: object) =>
  (await clientOn(database).search({ query: 'climb tower', ...conditions })).items
const ids = async (conditions: object) => (await search(conditions)).map(({ sourceId }) => sourceId)

describe('the moment of a hit', () => {
  it('is the day that its text names, otherwise when it was said', async () => {
    const moments = (await search({})).map(({ sourceId, moment }) => [sourceId, moment])
    expect(Object.fromEntries(moments)).toEqual({
      plan: '2024-05-20T00:00:00.000Z',
      south: '2024-03-01T00:00:00.000Z',
      love: '2024-04-01T12:00:00.000Z',
    })
  })

  it('sorts the best hits, the earliest first', async () => {
    expect(await ids({ sort: 'time' })).toEqual(['south', 'love', 'plan'])
    expect((await ids({ sort: 'time', limit: 2 })).length).toBe(2)
  })

  it.each([
    [{ from: '2024-05-01T00:00:00Z' }, ['plan']],
    [{ to: '2024-03-02T00:00:00Z' }, ['south']],
    [{ from: '2024-03-01T00:00:00Z', to: '2024-05-20T00:00:00Z', sort: 'time' }, ['south', 'love']],
    [{ from: '2024-03-01T00:00:00Z', until: '2024-02-01T00:00:00Z' }, ['plan']],
  ])('is what %j filter by, while since and until count when it was said', async (conditions, expected) => {
    expect(await ids(conditions)).toEqual(expected)
  })

  it('refuses an unknown order', async () => {
    await expect(search({ sort: 'newest' })).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'sort' })
  })

  it('is not a date in the arguments of a call, for the filter and the hit alike', async () => {
    await said(database, { thread: 'calls' }, [
      prepared(
        {
          role: 'tool_use',
          content: 'I look for the quarry.',
          toolCalls: [{ id: 'call-1', name: 'find', arguments: { place: 'quarry', day: '2019-07-04' } }],
          sourceId: 'call',
          sentAt: '2024-02-01T12:00:00Z',
        },
        { orderedAtMs: Date.parse('2024-02-01T12:00:00Z') },
      ),
    ])
    const quarry = async (conditions: object) =>
      (await search({ query: 'quarry', thread: 'calls', ...conditions })).map(({ moment }) => moment)
    expect(await quarry({})).toEqual(['2024-02-01T12:00:00.000Z'])
    expect(await quarry({ from: '2024-01-01T00:00:00Z' })).toEqual(['2024-02-01T12:00:00.000Z'])
    expect(await quarry({ to: '2020-01-01T00:00:00Z' })).toEqual([])
  })
})
