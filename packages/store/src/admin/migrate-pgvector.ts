import { unpackPlaces, vectorFromBytes } from '@heddle/core'
import postgres from 'postgres'
import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'
import {
  appendPoints,
  canIndex,
  indexedDimensions,
  inspectPgvector,
  isIndexable,
  pointIndexOf,
} from '../vectors/vector-points.js'

interface MigrateLog {
  info(fields: object, message: string): void
}

/**
 * If the server has pgvector, creates the table, its rows for existing vectors, and the indexes. A login that may not create
 * extensions continues without; `heddle doctor` reports it.
 *
 * For the session that holds the lock of migrations.
 */
export async function migratePgvector(sql: postgres.Sql, log?: MigrateLog): Promise<void> {
  const state = await inspectPgvector(sql)
  const version = state.installed ?? state.available
  if (state.isUsed || version === null) return
  if (!canIndex(version)) {
    log?.info({ version }, 'pgvector is older than 0.8, so vectors are compared without it')
    return
  }
  if (state.installed === null && !(await createExtension(sql))) {
    log?.info({ version }, 'this login may not create the extension vector, so vectors are compared without it')
    return
  }
  await createTable(sql)
  await fillPoints(sql)
  for (const dimensions of indexedDimensions) await createIndex(sql, dimensions)
  log?.info({ version }, 'vectors have an index of pgvector')
}

async function createExtension(sql: postgres.Sql): Promise<boolean> {
  try {
    await sql`create extension if not exists vector`
    return true
  } catch (error) {
    if (error instanceof postgres.PostgresError && error.code === '42501') return false
    throw error
  }
}

/** The lock blocks writers of vectors until the table exists; from then on they write to both tables. */
async function createTable(sql: postgres.Sql): Promise<void> {
  const half = await vectorType(sql)
  await sql.begin(async (tx) => {
    await tx`lock table heddle.vectors in share row exclusive mode`
    const [table] = await tx<{ found: boolean }[]>`select to_regclass('heddle.vector_points') is not null as found`
    if (table?.found) return
    await tx.unsafe(`
      create table heddle.vector_points (
        thread_id uuid not null,
        model text not null,
        seq bigint not null,
        start integer not null,
        project_id uuid not null default nullif(current_setting('heddle.project_id', true), '')::uuid,
        agent_id uuid not null,
        dimensions smallint not null,
        embedding ${half} not null,
        primary key (thread_id, model, seq, start),
        foreign key (thread_id, model) references heddle.vector_threads on delete cascade
      );
      create index vector_points_scope on heddle.vector_points (agent_id, model);
      alter table heddle.vector_points alter column embedding set storage plain;
      alter table heddle.vector_points enable row level security;
      alter table heddle.vector_points force row level security;
      create policy own_project_only on heddle.vector_points to heddle_app
        using (project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid))
        with check (project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
      revoke all on heddle.vector_points from heddle_app;
      grant select, insert, delete on heddle.vector_points to heddle_app`)
  })
}

/** `public.halfvec`, or wherever the extension is. */
async function vectorType(sql: postgres.Sql): Promise<string> {
  const [schema] = await sql<{ name: string }[]>`
    select quote_ident(nspname) as name from pg_extension
    join pg_namespace on pg_namespace.oid = extnamespace
    where extname = 'vector'`
  return `${schema?.name ?? 'public'}.halfvec`
}

/** Does not block writers: they write both forms meanwhile, and duplicates are ignored. */
async function createIndex(sql: postgres.Sql, dimensions: number): Promise<void> {
  const half = await vectorType(sql)
  const name = pointIndexOf(dimensions)
  const [left] = await sql<{ isValid: boolean }[]>`
    select indisvalid as "isValid" from pg_index where indexrelid = to_regclass(${`heddle.${name}`})`
  if (left?.isValid === true) return
  // An index whose build was interrupted.
  if (left !== undefined) await sql.unsafe(`drop index heddle.${name}`)
  const operators = half.replace(/halfvec$/, 'halfvec_cosine_ops')
  await sql.unsafe(`
    create index concurrently ${name} on heddle.vector_points
    using hnsw ((embedding::${half}(${dimensions})) ${operators})
    where dimensions = ${dimensions}`)
}

/** Packed rows per read: up to 2,048 vectors. */
const ROWS_READ = 32

/** Copies the vectors that were embedded before the table existed, thread by thread. */
async function fillPoints(sql: postgres.Sql): Promise<void> {
  const projects = await sql<{ id: string }[]>`select distinct project_id as id from heddle.stage_cursors`
  for (const { id } of projects) {
    const threads = await asProject(
      sql,
      id,
      (tx) => tx<Columns<'vectorThreads', 'threadId' | 'model'>[]>`
        select thread_id as "threadId", model from heddle.vector_threads where chunks > 0`,
    )
    for (const { threadId, model } of threads) {
      let after = -1
      while (after < Number.POSITIVE_INFINITY) {
        after = await asProject(sql, id, (tx) => fillSome(tx, { threadId, model, after }))
      }
    }
  }
}

/** @returns the `first_chunk` of the last row that was read; infinity at the end */
async function fillSome(
  tx: postgres.TransactionSql,
  { threadId, model, after }: { threadId: string; model: string; after: number },
): Promise<number> {
  const [thread] = await tx<{ agentId: string }[]>`
    select agent_id as "agentId" from heddle.vector_threads
    where thread_id = ${threadId} and model = ${model} for key share`
  if (thread === undefined) return Number.POSITIVE_INFINITY
  const rows = await tx<Columns<'vectors', 'firstChunk' | 'places' | 'embedding'>[]>`
    select first_chunk as "firstChunk", places, embedding from heddle.vectors
    where thread_id = ${threadId} and model = ${model} and first_chunk > ${after}
    order by first_chunk
    limit ${ROWS_READ}`
  const chunks = rows.flatMap(({ places, embedding }) => {
    const found = unpackPlaces(places)
    const dimensions = found.length === 0 ? 0 : embedding.length / found.length
    if (!isIndexable(dimensions)) return []
    const vectors = vectorFromBytes(embedding)
    return found.map(({ seq, from }, index) => ({
      seq,
      from,
      vector: vectors.subarray(index * dimensions, (index + 1) * dimensions),
    }))
  })
  if (chunks.length > 0) await appendPoints(tx as unknown as Tx, { threadId, agentId: thread.agentId, model, chunks })
  return rows.at(-1)?.firstChunk ?? Number.POSITIVE_INFINITY
}

/** Works like services: in one project, as the role that is subject to row-level security. */
async function asProject<T>(
  sql: postgres.Sql,
  projectId: string,
  work: (tx: postgres.TransactionSql) => Promise<T>,
): Promise<T> {
  const { value } = await sql.begin(async (tx) => {
    await tx`
      select set_config('role', 'heddle_app', true), set_config('heddle.project_id', ${projectId}, true)`
    return { value: await work(tx) }
  })
  return value
}
