import { packPlaces } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'
import type { EmbeddedChunk } from './chunk.js'
import { base64, joinedVectors } from './vector-bytes.js'
import { appendPoints } from './vector-points.js'

/** The next messages of a thread that have vectors of a model. */
interface VectorRange {
  readonly threadId: string
  readonly agentId: string
  readonly model: string
  /** Where the thread's cursor for the model stood; 0 for a thread without any vectors of it. */
  readonly fromSeq: number
  /** Where it stands afterwards: up to there all messages have been given, those without any chunk included. */
  readonly toSeq: number
}

export interface NewVectors extends VectorRange {
  readonly chunks: readonly EmbeddedChunk[]
}

/** Chunks of one row: a large row costs little to keep, and one that is too large costs much to read for a part of it. */
const ROW_CHUNKS_MAX = 64

/** Rows of fewer chunks are put together: see the schema's index of them. */
const ROW_CHUNKS_SMALL = 16

/**
 * Adds the vectors of a thread's next messages and moves the thread's cursor for the model on. Where the cursor stands
 * elsewhere nothing is added: another worker was there. For transactions that hold the thread.
 *
 * @returns whether they were added
 */
export async function appendVectors(tx: Tx, added: NewVectors): Promise<boolean> {
  const { threadId, model, chunks } = added
  const before = await moveCursor(tx, { ...added, chunks: chunks.length })
  if (before === null) return false
  if (chunks.length === 0) return true
  const rows = rowsOf(chunks, before)
  await tx`
    insert into heddle.vectors (thread_id, model, first_chunk, chunks, to_seq, places, embedding)
    select
      ${threadId}, ${model}, first_chunk, chunks, to_seq, decode(places, 'base64'), decode(embedding, 'base64')
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as given (
      first_chunk integer, chunks integer, to_seq bigint, places text, embedding text)`
  await appendPoints(tx, added)
  if ((rows.at(-1)?.chunks ?? 0) < ROW_CHUNKS_SMALL) await mergeSmallRows(tx, threadId, model)
  return true
}

/**
 * Moves a thread's cursor on for a model whose vectors are made again from the texts by the searches that compare them
 * (`hasRemadeVectors` in core). Otherwise as {@link appendVectors}.
 *
 * @param chunks of the messages: what a search of them takes in memory
 */
export async function noteRemadeVectors(tx: Tx, added: VectorRange & { readonly chunks: number }): Promise<boolean> {
  return (await moveCursor(tx, added)) !== null
}

/** @returns the earlier number of chunks; null if the cursor is elsewhere */
async function moveCursor(
  tx: Tx,
  { threadId, agentId, model, fromSeq, toSeq, chunks }: VectorRange & { readonly chunks: number },
): Promise<number | null> {
  const [moved] = await tx<{ before: number }[]>`
    insert into heddle.vector_threads as thread (thread_id, model, agent_id, to_seq, chunks)
    select ${threadId}, ${model}, ${agentId}, ${toSeq}, ${chunks}
    where ${fromSeq}::bigint = 0
      or exists (select from heddle.vector_threads where thread_id = ${threadId} and model = ${model})
      or ${fromSeq}::bigint = (select shared_seq from heddle.stage_cursors where thread_id = ${threadId})
    on conflict (thread_id, model) do update
      set to_seq = excluded.to_seq, chunks = thread.chunks + excluded.chunks
      where thread.to_seq = ${fromSeq}
    returning thread.chunks - ${chunks}::integer as before`
  return moved?.before ?? null
}

/** How a thread stands with a model. */
export interface VectorStanding {
  /** How far it has vectors of the model; 0 without any. */
  readonly toSeq: number
  /** Whether anything of its agent has vectors of another model. */
  readonly hasOthers: boolean
}

export async function loadVectorStanding(
  tx: Tx,
  { threadId, model }: { threadId: string; model: string },
): Promise<VectorStanding> {
  const [standing] = await tx<VectorStanding[]>`
    select
      coalesce((
        select to_seq from heddle.vector_threads where thread_id = ${threadId} and model = ${model}), (
        select shared_seq from heddle.stage_cursors where thread_id = ${threadId}), 0) as to_seq,
      exists (
        select from heddle.vector_threads
        where agent_id = (select agent_id from heddle.threads where id = ${threadId})
          and (model < ${model} or model > ${model})) as has_others`
  return standing ?? { toSeq: 0, hasOthers: false }
}

/** Threads whose vectors of other models one call removes. */
const RETIRED_THREADS_MAX = 100

/**
 * Removes an agent's vectors of all other models, once the model covers as much of each thread as they do; some threads at a
 * time.
 *
 * @returns whether there is more to remove
 */
export async function retireOtherModels(
  tx: Tx,
  { agentId, model }: { agentId: string; model: string },
): Promise<boolean> {
  const ofOthers = tx`agent_id = ${agentId} and (model < ${model} or model > ${model})`
  const retired = await tx<Columns<'vectorThreads', 'threadId' | 'model'>[]>`
    delete from heddle.vector_threads as other
    where ${ofOthers} and (thread_id, model) in (
      select thread_id, model from heddle.vector_threads where ${ofOthers} limit ${RETIRED_THREADS_MAX})
      and not exists (
        select from heddle.vector_threads as further
        left join heddle.vector_threads as own on own.thread_id = further.thread_id and own.model = ${model}
        where further.agent_id = ${agentId} and (further.model < ${model} or further.model > ${model})
          and (own.to_seq is null or own.to_seq < further.to_seq))
    returning other.thread_id, other.model`
  if (retired.length === 0) return false
  await tx`
    delete from heddle.vectors as old
    using json_to_recordset(${JSON.stringify(retired.map(({ threadId, model: name }) => ({ thread_id: threadId, model: name })))}::text::json)
      as retired (thread_id uuid, model text)
    where old.thread_id = retired.thread_id and old.model = retired.model`
  return retired.length === RETIRED_THREADS_MAX
}

function rowsOf(chunks: readonly EmbeddedChunk[], before: number) {
  const rows = []
  for (let from = 0; from < chunks.length; from += ROW_CHUNKS_MAX) {
    const some = chunks.slice(from, from + ROW_CHUNKS_MAX)
    rows.push({
      first_chunk: before + from,
      chunks: some.length,
      to_seq: some.reduce((last, { seq }) => Math.max(last, seq), 0),
      places: base64(packPlaces(some)),
      embedding: base64(joinedVectors(some.map(({ vector }) => vector))),
    })
  }
  return rows
}

/** A conversation that grows message by message adds small rows: sixteen of them become one. */
async function mergeSmallRows(tx: Tx, threadId: string, model: string): Promise<void> {
  const ofSmall = tx`thread_id = ${threadId} and model = ${model} and chunks < 16`
  await tx`
    with small as (
      delete from heddle.vectors
      where ${ofSmall}
        and (select count(*) from heddle.vectors where ${ofSmall}) >= ${ROW_CHUNKS_SMALL}::integer
      returning first_chunk, chunks, to_seq, places, embedding
    )
    insert into heddle.vectors (thread_id, model, first_chunk, chunks, to_seq, places, embedding)
    select
      ${threadId}, ${model}, max(first_chunk), sum(chunks), max(to_seq), string_agg(places, ''::bytea order by first_chunk),
      string_agg(embedding, ''::bytea order by first_chunk)
    from small
    having count(*) > 0`
}
