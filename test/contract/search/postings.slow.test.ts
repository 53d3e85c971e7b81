import { agentIdOf, projectIdOf, threadIdOf } from '@heddle/core'
import { createHashingEmbedder } from '@heddle/models'
import { beginErasure, continueErasure, findWords, mergePostings, type Tx } from '@heddle/store'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { asOwner } from '../store/erasure/erasure-support.js'
import { freshStore, prepared, type TestStore } from '../store/support.js'
import { clientOn, index, PROJECT_NAME, said, store } from './support.js'

let database: TestStore
const projectId = projectIdOf(PROJECT_NAME)
const inProject = <T>(work: (tx: Tx) => Promise<T>) => database.store.inProject(projectId, work)

beforeAll(async () => {
  database = await freshStore()
})
afterAll(() => database.drop())

const client = () => clientOn(database)
const texts = async (query: string, agent: string) =>
  (await client().search({ query, agent, limit: 500 })).items.map(({ text }) => text).sort()

async function segmentsOf(agent: string) {
  const agentId = agentIdOf(projectId, agent)
  return await inProject(
    async (tx) =>
      await tx<{ number: number; level: number; documents: number; length: number }[]>`
        select number, level, documents, length from heddle.posting_segments where agent_id = ${agentId} order by number`,
  )
}

const sums = (segments: { documents: number; length: number }[]) => ({
  documents: segments.reduce((sum, { documents }) => sum + documents, 0),
  length: segments.reduce((sum, { length }) => sum + length, 0),
})

it('words are indexed once, also after a replay and a lost cursor', async () => {
  const place = { agent: 'replayed', thread: 'replayed' }
  await said(database, place, [prepared({ content: 'a loom' }), prepared({ content: 'a weft' })])
  const before = await segmentsOf('replayed')
  expect(sums(before)).toEqual({ documents: 2, length: 4 })
  await inProject(
    (tx) => tx`update heddle.stage_cursors set embed_seq = 0 where thread_id = ${threadIdOf(projectId, 'replayed')}`,
  )
  await index(database, place)
  expect(await segmentsOf('replayed')).toEqual(before)
  await said(database, place, [prepared({ content: 'a warp' })])
  expect(sums(await segmentsOf('replayed'))).toEqual({ documents: 3, length: 6 })
  expect(await texts('loom warp', 'replayed')).toEqual(['a loom', 'a warp', 'a weft'])
})

it('one of two workers on one thread indexes the words', async () => {
  const place = { agent: 'raced', thread: 'raced' }
  await store(database, place, [prepared({ content: 'a loom' })])
  await Promise.all([index(database, place), index(database, place)])
  expect(sums(await segmentsOf('raced'))).toEqual({ documents: 1, length: 2 })
})

it('words are searchable while no vectors can be made, and are not indexed again once they can', async () => {
  const place = { agent: 'dumb', thread: 'dumb' }
  await store(database, place, [prepared({ content: 'a loom' })])
  // A model whose vectors are made by the stage.
  const closed = { ...createHashingEmbedder(), model: 'words-384' }
  await closed.close()
  await expect(index(database, place, closed)).rejects.toMatchObject({ disposition: 'retry' })
  expect(await texts('loom', 'dumb')).toEqual(['a loom'])
  await index(database, place)
  expect(sums(await segmentsOf('dumb'))).toEqual({ documents: 1, length: 2 })
})

it('many small additions are merged without losing a word or counting it twice', async () => {
  const place = { agent: 'grown', thread: 'grown' }
  for (let number = 0; number < 40; number++)
    await said(database, place, [prepared({ content: `loom number${number}` })])
  const segments = await segmentsOf('grown')
  expect(segments.length).toBeLessThan(10)
  expect(sums(segments)).toEqual({ documents: 40, length: 160 })
  expect(await texts('loom', 'grown')).toHaveLength(40)
  expect(await texts('number17', 'grown')).toContain('loom number17')
  await Promise.all(
    [1, 2, 3].map(() => inProject((tx) => mergePostings(tx, { agentId: agentIdOf(projectId, 'grown') }))),
  )
  expect(sums(await segmentsOf('grown'))).toEqual({ documents: 40, length: 160 })
})

it('large segments are merged, no more than eight at once', async () => {
  const place = { agent: 'large', thread: 'large' }
  const agentId = agentIdOf(projectId, 'large')
  for (let number = 0; number < 21; number++) {
    await said(database, place, [prepared({ content: `loom number${number}` })])
    // Segments of a few megabytes would take long to make.
    await asOwner(
      database.url,
      async (sql) => await sql`update heddle.posting_segments set level = 3 where agent_id = ${agentId}`,
    )
  }
  expect(await segmentsOf('large')).toHaveLength(21)
  await inProject((tx) => mergePostings(tx, { agentId }))
  const segments = await segmentsOf('large')
  expect(segments).toHaveLength(14)
  expect(sums(segments)).toEqual({ documents: 21, length: 84 })
  expect(await texts('number3', 'large')).toContain('loom number3')
})

it('an erasure removes the words and counts of its thread, and a sister thread stays searchable', async () => {
  const messages = (word: string) => Array.from({ length: 9 }, () => [prepared({ content: `${word} and heddle` })])
  for (const [left, right] of messages('secret').map((each, at) => [each, messages('open')[at] ?? []] as const)) {
    await said(database, { agent: 'erased', thread: 'secret' }, left)
    await said(database, { agent: 'erased', thread: 'open' }, right)
  }
  const target = { projectId, kind: 'thread' as const, targetId: threadIdOf(projectId, 'secret') }
  await inProject((tx) => beginErasure(tx, target))
  expect(await texts('secret', 'erased')).toEqual([])
  await continueErasure(database.store, target)
  const agentId = agentIdOf(projectId, 'erased')
  const { lists, scope } = await inProject((tx) => findWords(tx, { agentId, terms: ['secret', 'open', 'heddl'] }))
  expect([...lists.keys()].sort()).toEqual(['heddl', 'open'])
  expect(scope.documents).toBe(9)
  expect(await texts('heddle', 'erased')).toHaveLength(9)

  const agent = { projectId, kind: 'agent' as const, targetId: agentId }
  await inProject((tx) => beginErasure(tx, agent))
  await continueErasure(database.store, agent)
  const left = await asOwner(
    database.url,
    async (sql) =>
      await sql`
      select number from heddle.posting_segments where agent_id = ${agentId}
      union all select number from heddle.posting_threads where agent_id = ${agentId}`,
  )
  expect(left).toEqual([])
})

it('a long scope is searched by its index, which takes less space than half of its text', async () => {
  const agentId = agentIdOf(projectId, 'long')
  const words = Array.from({ length: 4_000 }, (_, number) => `word${number.toString(36)}`)
  let [state, characters] = [1, 0]
  const random = (below: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
  // Frequent words and rare ones, as in any text.
  const sentence = () =>
    Array.from({ length: 40 }, () => words[Math.floor(4_000 ** (random(10_000) / 10_000))]).join(' ')
  for (let thread = 0; thread < 6; thread++) {
    const contents = Array.from({ length: 500 }, sentence)
    characters += contents.join('').length
    await said(
      database,
      { agent: 'long', thread: `long ${thread}` },
      contents.map((content) => prepared({ content })),
    )
  }
  const [size] = await asOwner(
    database.url,
    async (sql) =>
      await sql<{ bytes: number }[]>`
      select sum(octet_length(postings) + octet_length(first_term) + 60)::integer as bytes
      from heddle.posting_blocks
      join heddle.posting_segments on posting_segments.number = posting_blocks.segment
      where agent_id = ${agentId}`,
  )
  expect(size?.bytes ?? 0).toBeGreaterThan(0)
  expect((size?.bytes ?? 0) / characters).toBeLessThan(0.5)

  const segments = (await segmentsOf('long')).length
  const terms = ['word1', 'wordab', 'word2z', 'unheard']
  const read = await inProject(async (tx) => {
    // With fresh statistics on so few segments the planner would rightly read them all.
    await tx`set local enable_seqscan = off`
    const before = await rowsReadSoFar(tx)
    // Several times: from the sixth execution on, a prepared statement may get a generic plan.
    for (let run = 0; run < 7; run++) await findWords(tx, { agentId, terms })
    const after = await rowsReadSoFar(tx)
    return Object.fromEntries([...after].map(([table, rows]) => [table, (rows - (before.get(table) ?? 0)) / 7]))
  })
  expect(read['posting_segments']).toBeLessThanOrEqual(segments)
  // Once for the place of a term and once for its block, in each segment.
  expect(read['posting_blocks']).toBeLessThanOrEqual(2 * segments * terms.length)
})

/** The server counts for a connection, earlier transactions included. */
async function rowsReadSoFar(tx: Tx): Promise<Map<string, number>> {
  const rows = await tx<{ relname: string; rows: number }[]>`
    select relname, seq_tup_read + coalesce(idx_tup_fetch, 0) as rows from pg_stat_xact_user_tables
    where schemaname = 'heddle' and relname like 'posting%'`
  return new Map(rows.map(({ relname, rows: count }) => [relname, count]))
}
