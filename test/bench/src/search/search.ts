import { randomUUID } from 'node:crypto'
import { defaultSettings, type SearchLegs, stages } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import { type EmbedDeps, embed } from '@heddle/embed'
import { createClient } from '@heddle/engine'
import { createHashingEmbedder, type Embedder } from '@heddle/models'
import { createLogger, systemClock } from '@heddle/runtime'
import { openStore, VECTORS_EXACT_MAX } from '@heddle/store'
import type { Measured } from '@heddle/test-support/figure'
import type { Bench } from '../bench.js'
import { interleaved, median, timed } from '../load/statistics.js'
import { doctorOfSearch } from './doctor.js'
import { allVectors, plainPass } from './plain-pass.js'
import { corpusQuery, corpusText } from './search-corpus.js'

const THREAD_MESSAGES = 500
const SMALL_CHUNKS = 10_000
const ROUNDS = 60
/** Of a scope whose vectors are not compared: a pass over a million takes most of a second. */
const LARGE_ROUNDS = 20
const APPEND_DEADLINE_MS = 120_000
const COLD_TIMEOUT_MS = 60_000
/** Threads that are stored and embedded at once: the database works while vectors are computed. */
const AT_ONCE = 2
const MEGABYTE = 1024 * 1024
/** The default cache of a process. */
const VECTOR_CACHE_MEGABYTES = 256

/** Three ways to search one scope, with warm caches, beside one plain pass over the same vectors; first small, then in full. */
export async function measureSearch(bench: Bench, { chunks }: { chunks: number }): Promise<Measured[]> {
  const embedder = createHashingEmbedder()
  const small = await measureScope(bench, embedder, { from: 0, to: Math.min(SMALL_CHUNKS, chunks) })
  if (chunks <= SMALL_CHUNKS) return figuresOf(small, null, chunks)
  const full = await measureScope(bench, embedder, { from: SMALL_CHUNKS, to: chunks })
  return figuresOf(full, small, chunks)
}

interface Took {
  readonly words: number
  /** Null if they are too many to be compared: then both together use words only. */
  readonly vectors: number | null
  readonly fused: number
  readonly pass: number
  /** The first search of a process, which reads the vectors. */
  readonly coldMs: number
  readonly cachedBytes: number
  readonly rssBytes: number
  /** What `heddle doctor` says. */
  readonly doctor: string
}

function figuresOf(full: Took, small: Took | null, chunks: number): Measured[] {
  const of = (name: 'words' | 'vectors' | 'fused', value: number): Measured => ({
    name: `search.${name}`,
    value,
    unit: 'ms',
    ceiling: full.pass,
    target: '<= 1',
    note: [
      `p50 of ${roundsOf(chunks)}, ${chunks} chunks in one scope, no pgvector, beside one plain pass over the same vectors (Float32)`,
      ...(small === null
        ? []
        : [`${small[name]?.toFixed(1)} ms with ${SMALL_CHUNKS}, beside ${small.pass.toFixed(1)}`]),
      ...(name === 'fused' && full.vectors === null ? ['by words only, since the vectors are too many'] : []),
    ].join('; '),
  })
  return [
    of('words', full.words),
    ...(full.vectors === null ? [] : [of('vectors', full.vectors)]),
    of('fused', full.fused),
    {
      name: 'search.cold',
      value: full.coldMs,
      unit: 'ms',
      note: `the first search of a process${full.vectors === null ? '' : ', which makes all vectors from the texts'}`,
    },
    {
      name: 'search.memory',
      value: full.cachedBytes / MEGABYTE,
      unit: 'MB',
      target: `<= ${VECTOR_CACHE_MEGABYTES}`,
      note: [
        `vectors in memory, of at most ${VECTOR_CACHE_MEGABYTES} MB`,
        ...(small === null ? [] : [`${(small.cachedBytes / MEGABYTE).toFixed(1)} MB with ${SMALL_CHUNKS}`]),
        `the whole process, workers and all, takes ${(full.rssBytes / MEGABYTE).toFixed(0)} MB`,
        `heddle doctor: ${full.doctor}`,
      ].join('; '),
    },
  ]
}

const AGENT = 'searcher'

function isCompared(chunks: number): boolean {
  return chunks <= VECTORS_EXACT_MAX
}

function roundsOf(chunks: number): number {
  return isCompared(chunks) ? ROUNDS : LARGE_ROUNDS
}

async function measureScope(bench: Bench, embedder: Embedder, range: { from: number; to: number }): Promise<Took> {
  await fill(bench, embedder, range)
  await bench.sql`vacuum analyze`
  // With its own cache, as in a process that serves searches.
  const store = openStore({
    url: bench.servers.databaseUrl,
    vectorCacheBytesMax: VECTOR_CACHE_MEGABYTES * MEGABYTE,
  })
  try {
    const client = createClient({
      store,
      queues: bench.queues,
      project: 'bench',
      log: createLogger({ level: 'error', name: 'bench' }),
      embedder: async () => embedder,
      // As for a semantic model: hashed words alone would seldom be compared. The first search makes the vectors, which may take
      // longer than a caller would wait.
      settings: {
        search: {
          ...defaultSettings.search,
          vectors: { ...defaultSettings.search.vectors, always: 0.2, timeoutMs: COLD_TIMEOUT_MS },
        },
      },
    })
    const search = async (by: SearchLegs, query: string) => {
      const { items, degraded, comparedBy } = await client.search({ query, agent: AGENT, by })
      if (items.length === 0) throw new Error('nothing was measured: no hits')
      if (by === 'words') return
      if (!isCompared(range.to)) {
        if (degraded === null) throw new Error('an agent with too many vectors was searched as if they were compared')
      } else if (degraded !== null) throw new Error(`nothing was measured: ${degraded}`)
      else if (comparedBy !== 'exact') throw new Error(`vectors were compared by ${comparedBy}`)
    }
    const coldMs = await timed(() => search('both', corpusQuery(0)))
    const vectors = await allVectors(embedder, range.to)
    const tookMs = await interleaved(roundsOf(range.to), {
      words: (round) => timed(() => search('words', corpusQuery(round))),
      vectors: (round) =>
        isCompared(range.to) ? timed(() => search('meaning', corpusQuery(round))) : Promise.resolve(0),
      fused: (round) => timed(() => search('both', corpusQuery(round))),
      pass: async (round) => {
        const [query] = await embedder.embed([corpusQuery(round)])
        return await timed(async () => plainPass(query ?? new Float32Array(), vectors))
      },
    })
    const { cachedBytes } = store.vectors
    return {
      words: median(tookMs.words),
      vectors: isCompared(range.to) ? median(tookMs.vectors) : null,
      fused: median(tookMs.fused),
      pass: median(tookMs.pass),
      coldMs,
      cachedBytes,
      rssBytes: process.memoryUsage().rss - vectors.byteLength,
      doctor: await doctorOfSearch(bench.servers.databaseUrl, 'bench'),
    }
  } finally {
    await store.close()
  }
}

/** Stores messages of one chunk each, and indexes them as the embed stage does. */
async function fill(bench: Bench, embedder: Embedder, { from, to }: { from: number; to: number }): Promise<void> {
  const workers = await bench.startStages('ingest')
  const { store, projectId } = bench
  const deps: EmbedDeps = { store, embedder, settings: {}, log: { info: () => {} }, clock: systemClock }
  const numbers = Array.from({ length: Math.ceil((to - from) / THREAD_MESSAGES) }, (_, index) => index)
  const queue = numbers.values()
  const work = async () => {
    for (const number of queue) {
      const first = from + number * THREAD_MESSAGES
      const thread = `scope ${first}`
      const count = Math.min(THREAD_MESSAGES, to - first)
      const messages = Array.from({ length: count }, (_, index) => ({
        role: 'user' as const,
        content: corpusText(first + index),
      }))
      await bench.client.messages.append({ agent: AGENT, thread, messages, deadlineMs: APPEND_DEADLINE_MS })
      const { signal } = new AbortController()
      const payload = { projectId, threadId: threadIdOf(projectId, thread) }
      await embed({ payload, jobId: randomUUID(), attempt: 1, attemptsMax: stages.embed.attempts, signal }, deps)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  await workers.stop()
}
