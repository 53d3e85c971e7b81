import type { NearDocument } from '@heddle/core'
import type postgres from 'postgres'
import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'
import { isOwn } from '../sql/own-project.js'
import { findPointIndex, vectorText } from './vector-points.js'
import { joinNearest, type Nearest, type NearestRequest, VECTORS_EXACT_MAX } from './vector-search.js'

/** A scope with at most this number of chunks is scanned: that is exact, and no slower than the index. */
const PASS_CHUNKS_MAX = 2_000
/** The most chunks that one search reads from the index if conditions exclude most of them. */
const WALK_CHUNKS_MAX = 50_000
const ROWS_READ = 200

/**
 * Search by the index of pgvector, whose scan continues while conditions exclude near vectors. A scope is scanned on the
 * server instead if it is small, or so small a part of the index that the index would take longer. Nothing is cached in this
 * process.
 *
 * @returns null if the server has no index for vectors of this length
 */
export async function nearestByIndex(
  inProject: <T>(projectId: string, work: (tx: Tx) => Promise<T>) => Promise<T>,
  request: NearestRequest,
): Promise<Nearest | null> {
  return await inProject(request.projectId, async (tx) => {
    const index = await findPointIndex(tx, request.query.length)
    if (index === null) return null
    await tx`
      select
        set_config('search_path', (
          select quote_ident(nspname) from pg_extension
          join pg_namespace on pg_namespace.oid = extnamespace
          where extname = 'vector'), true),
        set_config('hnsw.iterative_scan', 'relaxed_order', true),
        set_config('hnsw.ef_search', '200', true),
        set_config('hnsw.max_scan_tuples', ${`${4 * WALK_CHUNKS_MAX}`}, true),
        set_config('hnsw.scan_mem_multiplier', '8', true)`
    const found: Nearest[] = []
    for (const agentId of request.agentIds) found.push(await nearestOf(tx, { request, agentId, points: index.points }))
    return joinNearest(found, request.limit)
  })
}

interface Scope {
  readonly request: NearestRequest
  readonly agentId: string
  /** Vectors in the index, of all scopes. */
  readonly points: number
}

async function nearestOf(tx: Tx, scope: Scope): Promise<Nearest> {
  const { request, agentId, points } = scope
  const counted = await countChunks(tx, scope)
  if (counted === null) return { documents: [], chunks: 0, agentsLeftOut: 0, by: 'pgvector' }
  const { chunks, wanted, threadId } = counted
  const toWalk = (request.limit * Math.max(points, wanted)) / Math.max(1, wanted)
  const isShort = wanted <= PASS_CHUNKS_MAX || (wanted <= VECTORS_EXACT_MAX && wanted < toWalk)
  const place = { agentId, threadId }
  const walked = isShort ? null : await read(request, await walkRows(tx, request, place))
  const isEnough = walked !== null && (walked.isFull || walked.rows >= wanted || wanted > VECTORS_EXACT_MAX)
  const { documents } = isEnough ? walked : await read(request, await passRows(tx, request, place))
  return { documents, chunks, agentsLeftOut: 0, by: 'pgvector' }
}

/** The numbers of chunks of the agent and of the requested thread; null if there is no such thread. */
async function countChunks(
  tx: Tx,
  { request: { model, thread }, agentId }: Scope,
): Promise<{ chunks: number; wanted: number; threadId: string | null } | null> {
  const [agent] = await tx<{ chunks: number }[]>`
    select coalesce(sum(chunks), 0)::bigint as chunks from heddle.vector_threads
    where agent_id = ${agentId} and model = ${model}`
  const chunks = agent?.chunks ?? 0
  if (thread === null) return { chunks, wanted: chunks, threadId: null }
  const [only] = await tx<Columns<'vectorThreads', 'threadId' | 'chunks'>[]>`
    select own.thread_id, own.chunks
    from (select thread_id from heddle.posting_threads where number = ${thread} offset 0) as posted
    cross join lateral (
      select thread_id, chunks from heddle.vector_threads
      where vector_threads.thread_id = posted.thread_id and model = ${model} and agent_id = ${agentId}) as own`
  return only === undefined ? null : { chunks, wanted: only.chunks, threadId: only.threadId }
}

interface NearRow {
  readonly thread: number
  readonly seq: number
  readonly distance: number
}

interface Place {
  readonly agentId: string
  readonly threadId: string | null
}

function conditionsOf(tx: Tx, { model, query }: NearestRequest, { agentId, threadId }: Place) {
  return tx`
    ${isOwn(tx, 'vector_points')} and agent_id = ${agentId} and model = ${model}
    and dimensions = ${tx.unsafe(`${query.length}`)}
    and ${threadId === null ? tx`true` : tx`thread_id = ${threadId}`}`
}

/** A query that is not sent before it is read. */
interface Rows {
  readonly rows: postgres.PendingQuery<NearRow[]>
}

/** Approximately by distance, from the index. Without the setting the planner would sort all rows. */
async function walkRows(tx: Tx, request: NearestRequest, place: Place): Promise<Rows> {
  await tx`select set_config('enable_sort', 'off', true)`
  const half = tx.unsafe(`halfvec(${request.query.length})`)
  return {
    rows: tx<NearRow[]>`
      select posted.number as thread, near.seq, near.distance
      from (
        select thread_id, seq, embedding::${half} <=> ${vectorText(request.query)}::${half} as distance
        from heddle.vector_points
        where ${conditionsOf(tx, request, place)}
        order by distance
        limit ${WALK_CHUNKS_MAX}) as near
      cross join lateral (
        select number from heddle.posting_threads where posting_threads.thread_id = near.thread_id offset 0) as posted`,
  }
}

/** The whole scope, sorted by distance: the first `offset` keeps the planner from using the vector index. */
async function passRows(tx: Tx, request: NearestRequest, place: Place): Promise<Rows> {
  await tx`select set_config('enable_sort', 'on', true)`
  const half = tx.unsafe(`halfvec(${request.query.length})`)
  return {
    rows: tx<NearRow[]>`
      select posted.number as thread, near.seq, near.distance
      from (
        select thread_id, seq, embedding::${half} <=> ${vectorText(request.query)}::${half} as distance
        from (
          select thread_id, seq, embedding from heddle.vector_points
          where ${conditionsOf(tx, request, place)}
          offset 0) as scope
        order by distance
        offset 0) as near
      cross join lateral (
        select number from heddle.posting_threads where posting_threads.thread_id = near.thread_id offset 0) as posted`,
  }
}

interface Read {
  readonly documents: NearDocument[]
  /** Whether the limit of messages was reached. */
  readonly isFull: boolean
  readonly rows: number
}

/** Each message once, by its nearest chunk, up to the limit. */
async function read({ isWanted, limit }: NearestRequest, near: Rows): Promise<Read> {
  const found = new Map<string, NearDocument>()
  let rows = 0
  for await (const some of near.rows.cursor(ROWS_READ)) {
    for (const { thread, seq, distance } of some) {
      rows++
      const cosine = 1 - distance
      const key = `${thread} ${seq}`
      const known = found.get(key)
      // The distance of a zero vector is not a number.
      if (Number.isNaN(cosine) || (known !== undefined && known.cosine >= cosine) || !isWanted(thread, seq)) continue
      found.set(key, { thread, seq, cosine })
    }
    if (found.size >= limit) break
  }
  const documents = [...found.values()].sort(
    (left, right) => right.cosine - left.cosine || right.thread - left.thread || right.seq - left.seq,
  )
  return { documents: documents.slice(0, limit), isFull: found.size >= limit, rows }
}
