import { defaultSettings } from '@heddle/contracts'
import { agentIdOf, projectIdOf, quantizeVector, type TextEmbedder } from '@heddle/core'
import { createClient } from '@heddle/engine'
import { createHashingEmbedder, type Embedder } from '@heddle/models'
import { openStore, type Store } from '@heddle/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshStore, prepared, type TestStore } from '../store/support.js'
import { clientOn, index, PROJECT_NAME, said, store } from './support.js'

let database: TestStore
beforeAll(async () => {
  database = await freshStore()
})
afterAll(() => database.drop())

const embedder = createHashingEmbedder()
const { model } = embedder

async function nearest(
  store: Store,
  agent: string,
  text: string,
  changed: { thread?: number | null; project?: string } = {},
) {
  const projectId = projectIdOf(changed.project ?? PROJECT_NAME)
  const [vector] = await embedder.embed([text])
  return await store.vectors.nearest({
    projectId,
    agentIds: [agentIdOf(projectIdOf(PROJECT_NAME), agent)],
    model,
    query: quantizeVector(vector ?? new Float32Array(embedder.dimensions)),
    thread: changed.thread ?? null,
    isWanted: () => true,
    limit: 3,
    remake: (texts) => embedder.embed(texts),
  })
}

test('messages are found by vectors, also those added since the last search, and no longer once erased', async () => {
  const agent = 'growing'
  await said(database, { agent, thread: 'loom one' }, [prepared({ content: 'the loom is broken' })])
  expect((await nearest(database.store, agent, 'a broken loom')).documents).toMatchObject([{ seq: 1 }])

  await said(database, { agent, thread: 'loom one' }, [prepared({ content: 'tea and cake' })])
  await said(database, { agent, thread: 'loom two' }, [prepared({ content: 'broken looms again' })])
  const { documents, chunks } = await nearest(database.store, agent, 'tea and cake')
  expect(documents[0]).toMatchObject({ seq: 2 })
  expect(documents[0]?.cosine).toBeCloseTo(1, 2)
  expect(chunks).toBe(3)

  await clientOn(database).threads.delete('loom one')
  const left = await nearest(database.store, agent, 'tea and cake')
  expect(left.chunks).toBe(1)
  expect(left.documents).toHaveLength(1)

  await said(database, { agent, thread: 'loom one' }, [prepared({ content: 'another beginning' })]).catch(() => {})
  const after = await nearest(database.store, agent, 'tea and cake')
  expect(after.documents.every(({ cosine }) => cosine < 0.9)).toBe(true)
})

test('a search reads only newer rows, not those that are in memory', async () => {
  const agent = 'counted'
  for (let index = 0; index < 5; index++) {
    await said(database, { agent, thread: `thread ${index}` }, [prepared({ content: `the loom ${index}` })])
  }
  await nearest(database.store, agent, 'loom')
  const watched = openStore({ url: database.url })
  try {
    await nearest(watched, agent, 'loom')
    const before = watched.vectors.cachedBytes
    await nearest(watched, agent, 'loom')
    expect(watched.vectors.cachedBytes).toBe(before)
    await said(database, { agent, thread: 'thread 0' }, [prepared({ content: 'one more' })])
    expect((await nearest(watched, agent, 'one more')).documents[0]).toMatchObject({ seq: 2 })
    expect(watched.vectors.cachedBytes).toBeGreaterThan(before)
    expect(watched.vectors.cachedBytes - before).toBeLessThan(before)
  } finally {
    await watched.close()
  }
})

test('another project sees no vectors, whichever agent it names', async () => {
  await said(database, { agent: 'private', thread: 'secret' }, [prepared({ content: 'the loom is broken' })])
  expect((await nearest(database.store, 'private', 'loom', { project: 'strangers' })).documents).toEqual([])
})

test('vectors beyond the memory limit are not compared, and the answer says so', async () => {
  const agent = 'large'
  await said(database, { agent, thread: 'wide' }, [prepared({ content: 'the loom is broken' })])
  const small = openStore({ url: database.url, vectorCacheBytesMax: 100 })
  try {
    expect(await nearest(small, agent, 'loom')).toEqual({
      documents: [],
      chunks: 1,
      agentsLeftOut: 1,
      by: 'exact',
    })
    expect(small.vectors.cachedBytes).toBeLessThanOrEqual(100)
    const { items, degraded } = await clientOn({ store: small }, PROJECT_NAME, { embedder }).search({
      query: 'broken zebra of nowhere',
      agent,
    })
    expect(items).toHaveLength(1)
    expect(degraded).toContain('more vectors than are compared in memory')
  } finally {
    await small.close()
  }
})

test('a text in other words is found by vectors, under the same filters, and the answer says so', async () => {
  const agent = 'speller'
  await said(database, { agent, thread: 'photos' }, [
    prepared({ content: 'we talked about photography all day' }),
    prepared({ role: 'assistant', content: 'photographic plates' }),
    prepared({ content: 'the weather was bad' }),
  ])
  const client = clientOn(database, PROJECT_NAME, { embedder })
  expect((await client.search({ query: 'telephotograph', agent, by: 'words' })).items).toEqual([])
  const { items, model: used, degraded } = await client.search({ query: 'telephotograph', agent, kinds: ['user'] })
  expect(items[0]).toMatchObject({ text: 'we talked about photography all day', kind: 'user' })
  expect(items.every(({ kind }) => kind === 'user')).toBe(true)
  expect([used, degraded]).toEqual([model, null])
  const here = await client.search({ query: 'telephotograph', thread: 'photos', by: 'meaning' })
  expect(here.items[0]?.text).toMatch(/photograph/)
})

test('a failing or hanging embedder leaves a search by words, and the answer names the fault', async () => {
  const agent = 'weak'
  await said(database, { agent, thread: 'alone' }, [prepared({ content: 'the shuttle is stuck' })])
  const failing: [string, TextEmbedder['embed'], timeoutMs: number][] = [
    ['vectors failed: out of order', () => Promise.reject(new Error('out of order')), 60_000],
    ['vectors took longer than 20 ms', () => new Promise(() => {}), 20],
  ]
  for (const [reason, embed, timeoutMs] of failing) {
    const settings = { search: { ...defaultSettings.search, vectors: { always: 1, unknownWords: 1, timeoutMs } } }
    const client = clientOn(database, PROJECT_NAME, { embedder: { ...embedder, embed }, settings })
    const { items, model: used, degraded } = await client.search({ query: 'shuttle', agent })
    expect(items.map(({ text }) => text)).toEqual(['the shuttle is stuck'])
    expect([used, degraded]).toEqual([null, reason])
  }
  const other = { ...embedder, model: 'another-model' }
  const { degraded } = await clientOn(database, PROJECT_NAME, { embedder: other }).search({ query: 'shuttle', agent })
  expect(degraded).toBe('no thread has vectors of another-model yet')
})

test('during a change of model, the old vectors are searched until the new ones are complete', async () => {
  const agent = 'of two models'
  const threads = ['first of two models', 'second of two models']
  const named = (model: string): Embedder => ({ ...createHashingEmbedder(), model })
  const [before, after] = [named('model-before'), named('model-after')]
  for (const thread of threads) {
    await store(database, { agent, thread }, [prepared({ content: `a shuttle of the ${thread}` })])
    await index(database, { agent, thread }, before)
  }
  const search = async (known: readonly Embedder[]) => {
    const client = createClient({
      store: database.store,
      queues: null,
      project: PROJECT_NAME,
      embedder: async (model = after.model) => known.find((each) => each.model === model) ?? null,
    })
    const { model, degraded } = await client.search({ query: 'shuttle', agent })
    return [model, degraded]
  }
  await index(database, { agent, thread: threads[0] ?? '' }, after)
  const reason = '1 threads have no vectors of model-after yet'
  expect(await search([before, after])).toEqual([
    'model-before',
    `the vectors of model-before are used until then: ${reason}`,
  ])
  expect(await search([after])).toEqual([null, reason])
  await index(database, { agent, thread: threads[1] ?? '' }, after)
  expect(await search([before, after])).toEqual(['model-after', null])
})
