import type postgres from 'postgres'
import type { Tx } from '../connection/connection.js'
import type { EmbeddedChunk } from './chunk.js'

/*
 * If the server has the extension pgvector, each chunk has a row in `heddle.vector_points` in addition to the packed rows of
 * `heddle.vectors`: pgvector's index needs one vector per row. `heddle migrate` creates the table, and the indexes last, so
 * that an existing index is complete. See docs/decisions/2026-11-22-pgvector-has-rows-of-its-own.md.
 */

/**
 * Dimensions of vectors that have an index: those of common models, and those to which these can be shortened. Others are
 * compared exactly.
 */
export const indexedDimensions = [64, 128, 256, 384, 512, 768, 1_024, 1_536, 3_072] as const

export function isIndexable(dimensions: number): boolean {
  return indexedDimensions.some((each) => each === dimensions)
}

export function pointIndexOf(dimensions: number): string {
  return `vector_points_${dimensions}`
}

/** The index of vectors of one length; null without one, or while it is being built. */
export interface PointIndex {
  /** Vectors in it by the server's statistics; 0 if it has none. */
  readonly points: number
}

export async function findPointIndex(tx: Tx, dimensions: number): Promise<PointIndex | null> {
  if (!isIndexable(dimensions)) return null
  const [found] = await tx<{ points: number }[]>`
    select greatest(0, class.reltuples)::float8 as points
    from pg_catalog.pg_index as index
    join pg_catalog.pg_class as class on class.oid = index.indexrelid
    where index.indexrelid = to_regclass(${`heddle.${pointIndexOf(dimensions)}`}) and index.indisvalid`
  return found ?? null
}

export interface NewPoints {
  readonly threadId: string
  readonly agentId: string
  readonly model: string
  readonly chunks: readonly Pick<EmbeddedChunk, 'seq' | 'from' | 'vector'>[]
}

/**
 * Adds a row per chunk if the table exists. To be called after the packed rows are written: `heddle migrate` waits for
 * transactions that have written some before it creates the table, and later ones see the table.
 */
export async function appendPoints(tx: Tx, { threadId, agentId, model, chunks }: NewPoints): Promise<void> {
  const dimensions = chunks[0]?.vector.length ?? 0
  if (!isIndexable(dimensions)) return
  const [table] = await tx<{ found: boolean }[]>`select to_regclass('heddle.vector_points') is not null as found`
  if (table?.found !== true) return
  const points = chunks.map(({ seq, from, vector }) => ({ seq, start: from, embedding: vectorText(vector) }))
  // The name of the vector type depends on the schema of the extension, so it is taken from the table.
  await tx`
    insert into heddle.vector_points (thread_id, model, seq, start, agent_id, dimensions, embedding)
    select ${threadId}, ${model}, given.seq, given.start, ${agentId}, ${dimensions}, given.embedding
    from json_populate_recordset(null::heddle.vector_points, ${JSON.stringify(points)}::text::json) as given
    on conflict do nothing`
}

/** A vector in pgvector's text format. Its half-precision numbers hold integers up to 2,048 exactly. */
export function vectorText(vector: Int8Array): string {
  return `[${vector.join(',')}]`
}

/** Whether the extension is available and installed, and whether Heddle's indexes exist. */
export interface PgvectorState {
  /** The version that the server could install; null if it has none. */
  readonly available: string | null
  /** The version that is installed in this database; null without. */
  readonly installed: string | null
  /** Whether all indexes of Heddle exist. */
  readonly isUsed: boolean
}

export async function inspectPgvector(sql: postgres.Sql): Promise<PgvectorState> {
  const names = indexedDimensions.map((dimensions) => `heddle.${pointIndexOf(dimensions)}`)
  const [state] = await sql<PgvectorState[]>`
    select
      (select default_version from pg_available_extensions where name = 'vector') as available,
      (select extversion from pg_extension where extname = 'vector') as installed,
      (select count(*) = ${names.length}::integer from pg_catalog.pg_index
        where indisvalid and indexrelid in (
          select to_regclass(name) from json_array_elements_text(${JSON.stringify(names)}::text::json) as given (name)))
        as "isUsed"`
  return state ?? { available: null, installed: null, isUsed: false }
}

/** The first version with iterative scans, which continue if conditions exclude most near vectors. */
const VERSION_LEAST = [0, 8] as const

export function canIndex(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > VERSION_LEAST[0] || minor >= VERSION_LEAST[1]
}
