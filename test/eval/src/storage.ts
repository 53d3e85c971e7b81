import type postgres from 'postgres'

/** Tables of search: vectors, and what words are found by. They have a figure of their own. */
const SEARCH = /chunk|vector|embedding|posting|term/

/** Bytes that the store takes on disk, indexes included, after a vacuum; the tables of search aside. */
export async function databaseBytes(sql: postgres.Sql): Promise<number> {
  await sql`vacuum`
  const tables = await sql<{ name: string; total: number }[]>`
    select relname as name, pg_total_relation_size(pg_class.oid)::float8 as total
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = 'heddle' and relkind = 'r'`
  const counted = tables.filter(({ name }) => !SEARCH.test(name))
  return counted.reduce((sum, { total }) => sum + total, 0)
}
