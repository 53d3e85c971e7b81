import {
  type NearDocument,
  nearestDocuments,
  unpackPlaces,
  VectorBlock,
  vectorFromBytes,
  vectorQuery,
} from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'
import { appendRemade } from './remade-vectors.js'
import { type CachedScope, VectorCache, type VectorScope } from './vector-cache.js'
import type { VectorThread } from './vector-scopes.js'
import {
  bytesPerVector,
  joinNearest,
  type Nearest,
  type NearestRequest,
  VECTORS_EXACT_MAX,
  type VectorSearch,
} from './vector-search.js'

/** Rows that are read at once: up to 2,048 vectors, a few milliseconds of decoding. */
const ROWS_READ = 32

export interface ExactVectorsOptions {
  /** Runs work in a transaction that sees the project as it was at one moment. */
  inSnapshot<T>(projectId: string, work: (tx: Tx) => Promise<T>): Promise<T>
  /** Bytes of vectors that are kept in memory. */
  readonly bytesMax: number
}

/**
 * Exact search by one pass over vectors in memory. The memory is updated before each search: only newer vectors of a thread
 * that grew are read, and those of erased threads are dropped.
 */
export function createExactVectors({ inSnapshot, bytesMax }: ExactVectorsOptions): VectorSearch {
  const cache = new VectorCache(bytesMax)

  async function nearestOf(agentId: string, request: NearestRequest): Promise<Nearest> {
    const scope = { projectId: request.projectId, agentId, model: request.model }
    const cached = cache.use(scope)
    const updating = cached.updating.then(() =>
      inSnapshot(scope.projectId, (tx) =>
        update(tx, { scope, cached, cache, dimensions: request.query.length, bytesMax, remake: request.remake }),
      ),
    )
    cached.updating = updating.catch(() => {})
    const chunks = await updating
    cache.resize(scope, cached)
    if (!isWithin(chunks, request.query.length, bytesMax))
      return { documents: [], chunks, agentsLeftOut: 1, by: 'exact' }
    return { documents: await compare(cached, request), chunks, agentsLeftOut: 0, by: 'exact' }
  }

  return {
    get cachedBytes() {
      return cache.bytes
    },
    async nearest(request) {
      const found: Nearest[] = []
      for (const agentId of request.agentIds) found.push(await nearestOf(agentId, request))
      return joinNearest(found, request.limit)
    },
  }
}

async function compare(cached: CachedScope, request: NearestRequest): Promise<NearDocument[]> {
  const { query, thread, isWanted, limit } = request
  const blocks: [number, VectorBlock][] = []
  for (const [number, { block }] of cached.threads) {
    if (thread === null || thread === number) blocks.push([number, block])
  }
  return await runCooperatively(nearestDocuments({ query: vectorQuery(query), blocks, isWanted, limit }))
}

function isWithin(chunks: number, dimensions: number, bytesMax: number): boolean {
  return chunks <= VECTORS_EXACT_MAX && chunks * bytesPerVector(dimensions) <= bytesMax
}

type ListedThread = VectorThread & Columns<'postingThreads', 'number'> & Columns<'vectorThreads', 'erasedCount'>

/** @returns the chunks of the scope, which stay unread where they are too many */
async function update(
  tx: Tx,
  {
    scope,
    cached,
    cache,
    dimensions,
    bytesMax,
    remake,
  }: Pick<NearestRequest, 'remake'> & {
    scope: VectorScope
    cached: CachedScope
    cache: VectorCache
    dimensions: number
    bytesMax: number
  },
): Promise<number> {
  const listed = await listThreads(tx, scope)
  const numbers = new Set(listed.map(({ number }) => number))
  // A thread that is erased and begun again under its name has another number.
  for (const number of cached.threads.keys()) if (!numbers.has(number)) cached.threads.delete(number)
  for (const { number, erasedCount } of listed) {
    if (cached.threads.get(number)?.erasedCount !== erasedCount) cached.threads.delete(number)
  }
  const chunks = listed.reduce((sum, thread) => sum + thread.chunks, 0)
  if (!isWithin(chunks, dimensions, bytesMax)) {
    cached.threads.clear()
    return chunks
  }
  const newer = listed.filter(({ number, toSeq }) => (cached.threads.get(number)?.toSeq ?? 0) < toSeq)
  // Others release their share first: both together would take twice as much memory.
  const expectedBytes = Math.max(cached.bytes, chunks * bytesPerVector(dimensions))
  cache.resize(scope, cached, Math.min(expectedBytes, bytesMax))
  if (newer.length > 0) await readNewer(tx, { model: scope.model, dimensions, cached, newer, remake })
  return chunks
}

/** Threads with chunks; one more than may be compared says that there are too many. */
async function listThreads(tx: Tx, { agentId, model }: VectorScope): Promise<ListedThread[]> {
  return await tx<ListedThread[]>`
    select posted.number, thread.thread_id, thread.to_seq, thread.chunks, thread.erased_count
    from heddle.vector_threads as thread
    cross join lateral (
      select number from heddle.posting_threads where posting_threads.thread_id = thread.thread_id
      offset 0) as posted
    where thread.agent_id = ${agentId} and thread.model = ${model} and thread.chunks > 0
    limit ${VECTORS_EXACT_MAX + 1}`
}

async function readNewer(
  tx: Tx,
  {
    model,
    dimensions,
    cached,
    newer,
    remake,
  }: Pick<NearestRequest, 'remake'> & {
    model: string
    dimensions: number
    cached: CachedScope
    newer: readonly ListedThread[]
  },
): Promise<void> {
  const afterSeqs = new Map(newer.map(({ number }) => [number, cached.threads.get(number)?.toSeq ?? 0]))
  const blocks = new Map(
    newer.map(({ number, chunks }) => [
      number,
      cached.threads.get(number)?.block ?? new VectorBlock(dimensions, chunks),
    ]),
  )
  try {
    const rows = tx<(Columns<'postingThreads', 'number'> & Columns<'vectors', 'places' | 'embedding'>)[]>`
      select given.number, row.places, row.embedding
      from unnest(
        ${asArray(newer.map(({ number }) => number))}::bigint[],
        ${asArray(newer.map(({ threadId }) => threadId))}::uuid[],
        ${asArray(afterSeqs.values())}::bigint[]) as given (number, thread_id, after_seq)
      cross join lateral (
        select places, embedding from heddle.vectors
        where vectors.thread_id = given.thread_id and vectors.model = ${model} and vectors.to_seq > given.after_seq
        order by first_chunk
        offset 0) as row`
    for await (const some of rows.cursor(ROWS_READ)) {
      for (const { number, places, embedding } of some) {
        addRow(blocks.get(number), { places, embedding, afterSeq: afterSeqs.get(number) ?? 0 })
      }
    }
    if (remake !== undefined) {
      const unmade = newer.flatMap((thread) => {
        const block = blocks.get(thread.number)
        if (block === undefined || block.count >= thread.chunks) return []
        return { ...thread, block, afterSeq: afterSeqs.get(thread.number) ?? 0 }
      })
      if (unmade.length > 0) await appendRemade(tx, unmade, remake)
    }
  } catch (error) {
    // A thread that was read in part is read again as a whole.
    for (const { number } of newer) cached.threads.delete(number)
    throw error
  }
  for (const { number, toSeq, erasedCount } of newer) {
    const block = blocks.get(number)
    if (block !== undefined) cached.threads.set(number, { toSeq, erasedCount, block })
  }
}

/** Rows that hold newer chunks may hold some that are there, too: what grew was put together with what was there. */
function addRow(
  block: VectorBlock | undefined,
  { places, embedding, afterSeq }: { places: Uint8Array; embedding: Uint8Array; afterSeq: number },
): void {
  if (block === undefined) return
  const seqs = unpackPlaces(places).map(({ seq }) => seq)
  const first = seqs.findIndex((seq) => seq > afterSeq)
  if (first < 0) return
  block.append(seqs.slice(first), vectorFromBytes(embedding).subarray(first * block.dimensions))
}
