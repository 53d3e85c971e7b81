import { agentIdOf, cosineOfQuantized, projectIdOf, quantizeVector, threadIdOf } from '@heddle/core'
import {
  appendPostings,
  appendVectors,
  findPostedThreads,
  inspectServer,
  migrate,
  type NearestRequest,
  openStore,
} from '@heddle/store'
import { type PgliteServer, startPglite } from '@heddle/test-support/servers/pglite-server'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshStore, prepared, type TestStore } from '../store/support.js'
import { clientOn, PROJECT_NAME, store as storeMessages } from './support.js'

const DIMENSIONS = 64
const MODEL = 'random-64'
const THREADS = 6
const MESSAGES = 420
/** Threads that are embedded before or after the server gets pgvector. */
const THREADS_LATER = 1
const MESSAGES_LATER = 50
const CHUNKS = (THREADS - THREADS_LATER) * MESSAGES + THREADS_LATER * MESSAGES_LATER
const AGENT = 'compared'

/** Postgres in WebAssembly is slow to start and to build an index while other processes run. */
const HOOK_TIMEOUT_MS = 300_000

/** A server with pgvector, for one connection at a time. */
let pglite: PgliteServer
beforeAll(async () => {
  pglite = await startPglite()
}, HOOK_TIMEOUT_MS)
afterAll(() => pglite?.close())

const asOwner = async <T>(work: (sql: postgres.Sql) => Promise<T>) => {
  const sql = postgres(pglite.url, { max: 1, onnotice: () => {} })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

function pgliteStore(): TestStore {
  const store = openStore({ url: pglite.url, connectionsMax: 1 })
  return { url: pglite.url, store, drop: () => store.close() }
}

function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647 - 0.5
  }
}

/** Vectors around some centres, like those of texts about some subjects. */
function vectorsOf(seed: number, count: number): Int8Array[] {
  const random = randomOf(seed)
  const centres = Array.from({ length: 20 }, () => Float32Array.from({ length: DIMENSIONS }, random))
  return Array.from({ length: count }, (_, index) => {
    const centre = centres[index % centres.length]
    return quantizeVector(Float32Array.from({ length: DIMENSIONS }, (_, at) => (centre?.[at] ?? 0) + random()))
  })
}

interface Added {
  readonly project?: string
  readonly agent?: string
  readonly thread: string
  readonly model?: string
  readonly vectors: readonly Int8Array[]
}

/** A thread with a message, and vectors as if it had many. @returns its number */
async function add(database: TestStore, { agent = AGENT, thread, model = MODEL, vectors, ...of }: Added) {
  const { project = PROJECT_NAME } = of
  const projectId = projectIdOf(project)
  const [threadId, agentId] = [threadIdOf(projectId, thread), agentIdOf(projectId, agent)]
  await storeMessages(database, { project, agent, thread }, [prepared()])
  const toSeq = vectors.length
  const chunks = vectors.map((vector, index) => ({ seq: index + 1, from: 0, to: 5, vector }))
  return await database.store.inProject(projectId, async (tx) => {
    await appendVectors(tx, { threadId, agentId, model, fromSeq: 0, toSeq, chunks })
    await appendPostings(tx, { threadId, agentId, toSeq, messages: [] })
    const [posted] = await findPostedThreads(tx, [threadId])
    return posted?.number ?? -1
  })
}

describe.each([
  { by: 'exact' as const, isIndexed: false },
  { by: 'pgvector' as const, isIndexed: true },
])('nearest vectors, $by', ({ by, isIndexed }) => {
  let database: TestStore
  const threads: { number: number; vectors: Int8Array[] }[] = []
  beforeAll(async () => {
    const fill = async (count: number) => {
      for (let index = threads.length; index < count; index++) {
        const vectors = vectorsOf(index + 1, index < THREADS - THREADS_LATER ? MESSAGES : MESSAGES_LATER)
        threads.push({ number: await add(database, { thread: `thread ${index}`, vectors }), vectors })
      }
    }
    if (isIndexed) {
      await migrate({ url: pglite.url })
      await asOwner((sql) => sql`drop table heddle.vector_points`)
      database = pgliteStore()
      await fill(THREADS - THREADS_LATER)
      await database.drop()
      expect((await inspectServer({ url: pglite.url })).pgvector).toMatchObject({ isUsed: false })
      // As when the extension is installed on a server in use.
      await migrate({ url: pglite.url })
      database = pgliteStore()
    } else database = await freshStore()
    await fill(THREADS)
  }, HOOK_TIMEOUT_MS)
  afterAll(() => database?.drop())

  const nearest = (changed: Partial<NearestRequest> & { project?: string; agent?: string } = {}) => {
    const { project = PROJECT_NAME, agent = AGENT, ...request } = changed
    return database.store.vectors.nearest({
      projectId: projectIdOf(project),
      agentIds: [agentIdOf(projectIdOf(PROJECT_NAME), agent)],
      model: MODEL,
      query: vectorsOf(3, 1)[0] ?? new Int8Array(),
      thread: null,
      isWanted: () => true,
      limit: 10,
      ...request,
    })
  }
  const exactly = (query: Int8Array, isWanted: NearestRequest['isWanted'] = () => true) =>
    threads
      .flatMap(({ number, vectors }) =>
        vectors.map((vector, index) => ({ thread: number, seq: index + 1, cosine: cosineOfQuantized(query, vector) })),
      )
      .filter(({ thread, seq }) => isWanted(thread, seq))
      .sort((left, right) => right.cosine - left.cosine)
      .slice(0, 10)
  const names = (documents: readonly { thread: number; seq: number }[]) =>
    new Set(documents.map(({ thread, seq }) => `${thread} ${seq}`))
  const shared = (left: ReturnType<typeof names>, right: ReturnType<typeof names>) =>
    [...left].filter((name) => right.has(name)).length

  test('finds nearly all nearest vectors, with their cosines, and says how it compared them', async () => {
    const queries = vectorsOf(4, 15)
    let found = 0
    for (const query of queries) {
      const { documents, chunks, agentsLeftOut, by: compared } = await nearest({ query })
      expect([chunks, agentsLeftOut, compared]).toEqual([CHUNKS, 0, by])
      const expected = exactly(query)
      found += shared(names(documents), names(expected))
      expect(documents[0]?.cosine).toBeCloseTo(expected[0]?.cosine ?? 0, 4)
      expect(documents).toEqual([...documents].sort((left, right) => right.cosine - left.cosine))
    }
    expect(found / (10 * queries.length)).toBeGreaterThanOrEqual(0.95)
  })

  test('returns only vectors that match the filter, however few they are', async () => {
    const [query = new Int8Array()] = vectorsOf(5, 1)
    const isWanted = (_: number, seq: number) => seq % 50 === 1
    expect(names((await nearest({ query, isWanted })).documents)).toEqual(names(exactly(query, isWanted)))
    const thread = threads[2]?.number ?? -1
    const inThread = await nearest({ query, thread })
    expect(names(inThread.documents)).toEqual(names(exactly(query, (of) => of === thread)))
    expect((await nearest({ query, isWanted: () => false })).documents).toEqual([])
    expect((await nearest({ thread: -1 })).documents).toEqual([])
  })

  test('does not return vectors of another agent, model or project', async () => {
    const vectors = vectorsOf(3, 3)
    const number = await add(database, { agent: 'beside', thread: 'beside', vectors })
    await add(database, { agent: 'beside', thread: 'of another model', model: 'other-64', vectors })
    await add(database, { project: 'strangers', agent: 'beside', thread: 'foreign', vectors })
    const { documents, chunks } = await nearest({ agent: 'beside' })
    expect(names(documents)).toEqual(new Set([1, 2, 3].map((seq) => `${number} ${seq}`)))
    expect(chunks).toBe(3)
    expect(await nearest({ project: 'strangers', agent: 'beside' })).toMatchObject({ documents: [], chunks: 0 })
    expect((await nearest({ model: 'unheard' })).documents).toEqual([])
  })

  test('returns a message of many chunks once, by its nearest chunk', async () => {
    const [first = new Int8Array(), second = new Int8Array()] = vectorsOf(9, 2)
    const projectId = projectIdOf(PROJECT_NAME)
    const [threadId, agentId] = [threadIdOf(projectId, 'long'), agentIdOf(projectId, 'long')]
    await storeMessages(database, { agent: 'long', thread: 'long' }, [prepared()])
    const chunks = [first, second].map((vector, index) => ({ seq: 1, from: 10 * index, to: 10 * index + 9, vector }))
    await database.store.inProject(projectId, async (tx) => {
      await appendVectors(tx, { threadId, agentId, model: MODEL, fromSeq: 0, toSeq: 1, chunks })
      await appendPostings(tx, { threadId, agentId, toSeq: 1, messages: [] })
    })
    const { documents } = await nearest({ agent: 'long', query: second })
    expect(documents).toHaveLength(1)
    expect(documents[0]?.cosine).toBeCloseTo(1, 4)
  })

  test('compares vectors of a length without an index one by one', async () => {
    await add(database, { agent: 'odd', thread: 'odd', model: 'odd', vectors: [Int8Array.of(3, 4, 5)] })
    const { documents, by: compared } = await nearest({ agent: 'odd', model: 'odd', query: Int8Array.of(3, 4, 5) })
    expect([documents.length, compared]).toEqual([1, 'exact'])
  })

  test('returns no vectors of an erased thread', async () => {
    const vectors = vectorsOf(11, 5)
    await add(database, { agent: 'erased', thread: 'erased', vectors })
    const [query = new Int8Array()] = vectors
    expect((await nearest({ agent: 'erased', query })).documents).toHaveLength(5)
    await clientOn(database).threads.delete('erased')
    expect(await nearest({ agent: 'erased', query })).toMatchObject({ documents: [], chunks: 0 })
  })
})

describe('a server that has pgvector', () => {
  test('answers from the vector index', async () => {
    const [index] = await asOwner(
      (sql) => sql`select idx_scan::integer as scans from pg_stat_user_indexes where indexrelname = 'vector_points_64'`,
    )
    expect(index?.['scans']).toBeGreaterThan(0)
  })

  test('lets the role of the services read, add and remove the vectors of one project only', async () => {
    const rows = await asOwner((sql) =>
      sql.begin(async (tx) => {
        const [table] = await tx`
          select relrowsecurity and relforcerowsecurity as forced,
            has_table_privilege('heddle_app', 'heddle.vector_points', 'update') as changeable
          from pg_class where oid = 'heddle.vector_points'::regclass`
        await tx`
          select set_config('role', 'heddle_app', true),
            set_config('heddle.project_id', ${projectIdOf('strangers')}, true)`
        const [own] = await tx`select count(*)::integer as count from heddle.vector_points`
        return { ...table, ...own }
      }),
    )
    expect(rows).toEqual({ forced: true, changeable: false, count: 3 })
  })

  test('reports that pgvector is used', async () => {
    const { pgvector } = await inspectServer({ url: pglite.url })
    expect(pgvector).toEqual({ available: pgvector.installed, installed: pgvector.available, isUsed: true })
  })
})
