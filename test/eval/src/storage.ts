import { setTimeout as sleep } from 'node:timers/promises'
import type postgres from 'postgres'

/** Vacuums in a row, and the delay before each, in milliseconds: together longer than any transaction of the pipeline. */
const VACUUMS = 6
const VACUUM_EVERY_MS = 500

/** Tables of search: vectors, and the index of words. They have a separate figure. */
const VECTORS = /chunk|vector|embedding/
const POSTINGS = /posting|term/

/** Bytes of the store on disk, indexes included, after a vacuum, without the tables of search. */
export async function databaseBytes(sql: postgres.Sql): Promise<number> {
  return await bytesWhere(sql, (name) => !VECTORS.test(name) && !POSTINGS.test(name))
}

/** The tables of search, likewise. */
export async function searchBytes(sql: postgres.Sql): Promise<{ vectors: number; postings: number }> {
  return {
    vectors: await bytesWhere(sql, (name) => VECTORS.test(name)),
    postings: await bytesWhere(sql, (name) => POSTINGS.test(name)),
  }
}

/** The tables of built contexts, likewise. */
export async function contextBytes(sql: postgres.Sql): Promise<number> {
  return await bytesWhere(sql, (name) => /^contexts$|^context_(lines|deliveries|mentions)$/.test(name))
}

async function bytesWhere(sql: postgres.Sql, isCounted: (name: string) => boolean): Promise<number> {
  await vacuum(sql)
  const tables = await sql<{ name: string; total: number }[]>`
    select relname as name, pg_total_relation_size(pg_class.oid)::float8 as total
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = 'heddle' and relkind = 'r'`
  return tables.filter(({ name }) => isCounted(name)).reduce((sum, { total }) => sum + total, 0)
}

/**
 * A vacuum keeps rows that a running transaction may still see, and then cannot truncate the file behind them either: a vacuum
 * during a poll of the pipeline would find all rows ever written.
 */
async function vacuum(sql: postgres.Sql): Promise<void> {
  for (let round = 0; round < VACUUMS; round++) {
    if (round > 0) await sleep(VACUUM_EVERY_MS)
    await sql`vacuum`
  }
}
