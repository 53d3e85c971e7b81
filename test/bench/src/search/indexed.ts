import { randomUUID } from 'node:crypto'
import { stages } from '@heddle/contracts'
import { estimateTokens, messageFingerprint, projectIdOf, threadIdOf } from '@heddle/core'
import { type EmbedDeps, embed } from '@heddle/embed'
import { createClient } from '@heddle/engine'
import { createHashingEmbedder } from '@heddle/models'
import { createLogger, systemClock } from '@heddle/runtime'
import { appendMessages, inspectServer, migrate, openStore, type Store } from '@heddle/store'
import type { Measured } from '@heddle/test-support/figure'
import { startPglite } from '@heddle/test-support/servers/pglite-server'
import postgres from 'postgres'
import type { Bench } from '../bench.js'
import { interleaved, median, timed } from '../load/statistics.js'
import { allVectors, plainPass } from './plain-pass.js'
import { corpusQuery, corpusText } from './search-corpus.js'

const PROJECT = 'indexed'
const AGENT = 'searcher'
/** In WebAssembly each vector takes some tens of milliseconds of the index. */
const CHUNKS = 5_000
const THREAD_MESSAGES = 500
const ROUNDS = 30

/**
 * The same searches where pgvector compares the vectors: in Postgres as WebAssembly, since the other servers here do not have the
 * extension. Its times are not those of a server; they say that the ways through it work, and which of them grow.
 */
export async function measureIndexed(bench: Bench): Promise<Measured[]> {
  const server = await startPglite()
  const { url } = server
  try {
    await migrate({ url })
    await asOwner(url, (sql) => sql`drop table heddle.vector_points`)
    // Its vectors are stored, as those of a model that knows meanings, while those of hashing are made by each process.
    const embedder = { ...createHashingEmbedder(), model: 'words-384' }
    const filled = openStore({ url, connectionsMax: 1 })
    await fill(filled, { embedder })
    await filled.close()
    const buildMs = await timed(() => migrate({ url }))
    const { pgvector } = await inspectServer({ url })
    if (!pgvector.isUsed) throw new Error('the index of pgvector was not built')
    const store = openStore({ url, connectionsMax: 1 })
    const client = createClient({
      store,
      queues: bench.queues,
      project: PROJECT,
      log: createLogger({ level: 'error', name: 'bench' }),
      embedder: async () => embedder,
    })
    const search = async (by: 'words' | 'meaning' | 'both', round: number) => {
      const { items, degraded, comparedBy } = await client.search({ query: corpusQuery(round), agent: AGENT, by })
      if (degraded !== null || items.length === 0) throw new Error(`nothing was measured: ${degraded ?? 'no hits'}`)
      if (by !== 'words' && comparedBy !== 'pgvector') throw new Error(`vectors were compared by ${comparedBy}`)
    }
    const vectors = await allVectors(embedder, CHUNKS)
    const tookMs = await interleaved(ROUNDS, {
      words: (round) => timed(() => search('words', round)),
      vectors: (round) => timed(() => search('meaning', round)),
      fused: (round) => timed(() => search('both', round)),
      pass: async (round) => {
        const [query] = await embedder.embed([corpusQuery(round)])
        return await timed(async () => plainPass(query ?? new Float32Array(), vectors))
      },
    })
    await store.close()
    const note = `p50 of ${ROUNDS}, ${CHUNKS} chunks in one scope, pgvector ${pgvector.installed} in WebAssembly`
    return [
      ...(['words', 'vectors', 'fused'] as const).map((by) => ({
        name: `search.indexed.${by}`,
        value: median(tookMs[by]),
        unit: 'ms',
        ceiling: median(tookMs.pass),
        note,
      })),
      {
        name: 'search.indexed.build',
        value: buildMs / CHUNKS,
        unit: 'ms',
        note: `of a vector, while \`heddle migrate\` makes the index of ${CHUNKS}; this process, server and all, takes ${Math.round(process.memoryUsage().rss / MEGABYTE)} MB`,
      },
    ]
  } finally {
    await server.close()
  }
}

const MEGABYTE = 1024 * 1024

async function asOwner(url: string, work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    await work(sql)
  } finally {
    await sql.end()
  }
}

/** Stores and indexes messages of one chunk each, without queues: the server serves one connection at a time. */
async function fill(store: Store, { embedder }: Pick<EmbedDeps, 'embedder'>): Promise<void> {
  const projectId = projectIdOf(PROJECT)
  const deps: EmbedDeps = { store, embedder, settings: {}, log: { info: () => {} }, clock: systemClock }
  for (let first = 0; first < CHUNKS; first += THREAD_MESSAGES) {
    const thread = `scope ${first}`
    const nowMs = systemClock.nowMs()
    const messages = Array.from({ length: THREAD_MESSAGES }, (_, index) => {
      const input = { id: randomUUID(), role: 'user' as const, content: corpusText(first + index) }
      const tokensEstimate = estimateTokens(input.content)
      return { input, ordinal: index, orderedAtMs: nowMs, tokensEstimate, fingerprint: messageFingerprint(input) }
    })
    const appends = [{ requestId: randomUUID(), agent: AGENT, thread, messages }]
    await store.inProject(projectId, (tx) => appendMessages(tx, { projectId, appends }))
    const payload = { projectId, threadId: threadIdOf(projectId, thread) }
    const { signal } = new AbortController()
    await embed({ payload, jobId: randomUUID(), attempt: 1, attemptsMax: stages.embed.attempts, signal }, deps)
  }
}
