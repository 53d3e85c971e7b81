import { type ChunkPlace, hasRemadeVectors, remadeDimensions, unpackPlaces, vectorFromBytes } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'

/** A thread with vectors of one model. Nothing of what it had up to `toSeq` ever changes; erased, it is not listed. */
export type VectorThread = Columns<'vectorThreads', 'threadId' | 'toSeq' | 'chunks'>

/** The threads of an agent that have vectors of a model: what a cache of them compares with what it holds. */
export async function listVectorThreads(
  tx: Tx,
  { agentId, model }: { agentId: string; model: string },
): Promise<VectorThread[]> {
  return await tx<VectorThread[]>`
    select thread_id, to_seq, chunks from heddle.vector_threads
    where agent_id = ${agentId} and model = ${model}`
}

/** Some chunks of a thread: the vector of `places[i]` is the i-th of equal parts of `vectors`. */
export interface LoadedVectors {
  readonly threadId: string
  readonly places: readonly ChunkPlace[]
  readonly vectors: Int8Array
}

/**
 * The vectors of some threads past a message of each, in no particular order of chunks; a part of them may be of messages up
 * to it, where these share a row. Callers bound what they ask for by `chunks` of {@link listVectorThreads}.
 */
export async function loadVectors(
  tx: Tx,
  { model, threads }: { model: string; threads: readonly { threadId: string; afterSeq: number }[] },
): Promise<LoadedVectors[]> {
  const given = threads.map(({ threadId, afterSeq }) => ({ thread_id: threadId, after_seq: afterSeq }))
  const rows = await tx<Columns<'vectors', 'threadId' | 'places' | 'embedding'>[]>`
    select given.thread_id, row.places, row.embedding
    from json_to_recordset(${JSON.stringify(given)}::text::json) as given (thread_id uuid, after_seq bigint)
    cross join lateral (
      select places, embedding from heddle.vectors
      where vectors.thread_id = given.thread_id and vectors.model = ${model} and vectors.to_seq > given.after_seq
      offset 0) as row`
  return rows.map(({ threadId, places, embedding }) => ({
    threadId,
    places: unpackPlaces(places),
    vectors: vectorFromBytes(embedding),
  }))
}

/** How far the models go by which an agent's threads were embedded. */
export interface ModelCoverage {
  readonly model: string
  readonly threads: number
  readonly chunks: number
  /** Threads that another model covers further than this one: 0 once everything has vectors of it. */
  readonly threadsBehind: number
}

/** Of all models by which any of an agent's threads has vectors; one of them as a rule, two while the model is changed. */
export async function loadModelCoverage(tx: Tx, { agentId }: { agentId: string }): Promise<ModelCoverage[]> {
  return await tx<ModelCoverage[]>`
    with recursive models (model) as (
      (select model from heddle.vector_threads where agent_id = ${agentId} order by model limit 1)
      union all
      select (
        select thread.model from heddle.vector_threads as thread
        where thread.agent_id = ${agentId} and thread.model > models.model
        order by thread.model limit 1)
      from models where models.model is not null
    ),
    one as (select count(*) = 2 as is_all from models),
    furthest as (
      select thread_id, max(to_seq) as to_seq from heddle.vector_threads
      where agent_id = ${agentId} and not (select is_all from one)
      group by thread_id
    )
    select
      models.model, counted.threads::integer, counted.chunks::integer,
      (select count(*)::integer from furthest
        left join heddle.vector_threads as own on own.thread_id = furthest.thread_id and own.model = models.model
        where own.to_seq is null or own.to_seq < furthest.to_seq) as threads_behind
    from models
    cross join lateral (
      select count(*) as threads, coalesce(sum(chunks), 0) as chunks from heddle.vector_threads as thread
      where thread.agent_id = ${agentId} and thread.model = models.model) as counted
    where models.model is not null
    order by models.model`
}

/** An agent's vectors of one model. */
export interface ScopeSize {
  readonly agent: string
  readonly model: string
  readonly chunks: number
  readonly dimensions: number
}

/** The scope of the project with the most chunks of one model; null without any vectors. For `doctor`: it reads all threads. */
export async function largestVectorScope(tx: Tx): Promise<ScopeSize | null> {
  const [largest] = await tx<ScopeSize[]>`
    select agents.name as agent, scope.model, scope.chunks, coalesce(one.dimensions, 0) as dimensions
    from (
      select agent_id, model, sum(chunks)::bigint as chunks from heddle.vector_threads
      group by agent_id, model
      order by chunks desc
      limit 1) as scope
    join heddle.agents on agents.id = scope.agent_id
    left join lateral (
      select octet_length(vectors.embedding) / vectors.chunks as dimensions
      from heddle.vector_threads as thread
      join heddle.vectors on vectors.thread_id = thread.thread_id and vectors.model = thread.model
      where thread.agent_id = scope.agent_id and thread.model = scope.model and thread.chunks > 0
      limit 1) as one on true`
  if (largest === undefined) return null
  return hasRemadeVectors(largest.model) ? { ...largest, dimensions: remadeDimensions(largest.model) } : largest
}
