import type postgres from 'postgres'

/** The bytes of one table on disk, by part. */
export interface TableBytes {
  /** Without the name of its schema. */
  readonly name: string
  readonly heap: number
  /** Values that are stored outside their rows, with the index of them. */
  readonly toast: number
  readonly indexes: Readonly<Record<string, number>>
  /** Rows that no transaction sees any more and whose space is not free yet, as the server counts them. */
  readonly deadRows: number
}

/** The tables of Heddle and of its queues. */
export async function tableSizes(sql: postgres.Sql, schemas: readonly string[]): Promise<TableBytes[]> {
  // The statistics of this session would otherwise be those of its first reading.
  await sql`select pg_stat_clear_snapshot()`
  return await sql<TableBytes[]>`
    select
      class.relname as name, pg_relation_size(class.oid)::float8 as heap,
      coalesce(pg_total_relation_size(nullif(class.reltoastrelid, 0)), 0)::float8 as toast,
      coalesce((
        select json_object_agg(part.relname, pg_relation_size(part.oid)::float8)
        from pg_index join pg_class as part on part.oid = indexrelid
        where indrelid = class.oid), '{}') as indexes,
      coalesce(pg_stat_get_dead_tuples(class.oid), 0)::float8
        + coalesce(pg_stat_get_dead_tuples(nullif(class.reltoastrelid, 0)), 0)::float8 as "deadRows"
    from pg_class as class join pg_namespace as schema on schema.oid = class.relnamespace
    where schema.nspname = any(${[...schemas]}) and class.relkind = 'r'`
}

export function bytesOf({ heap, toast, indexes }: TableBytes): number {
  return heap + toast + sum(Object.values(indexes))
}

export function totalBytes(tables: readonly TableBytes[]): number {
  return sum(tables.map(bytesOf))
}

/** The growth of the tables: the pages of an empty database are left out. */
export function growthOf(before: readonly TableBytes[], after: readonly TableBytes[]): TableBytes[] {
  const earlier = new Map(before.map((table) => [table.name, table]))
  return after.map((table) => {
    const { heap = 0, toast = 0, indexes = {} } = earlier.get(table.name) ?? {}
    return {
      ...table,
      heap: table.heap - heap,
      toast: table.toast - toast,
      indexes: Object.fromEntries(
        Object.entries(table.indexes).map(([name, bytes]) => [name, bytes - (indexes[name] ?? 0)]),
      ),
    }
  })
}

/** One line for each table that takes at least a hundredth of the raw bytes, or has dead rows: bytes per raw byte. */
export function describeTables(tables: readonly TableBytes[], rawBytes: number): string[] {
  const share = (bytes: number) => (bytes / rawBytes).toFixed(3)
  return [...tables]
    .sort((left, right) => bytesOf(right) - bytesOf(left))
    .filter((table) => bytesOf(table) >= rawBytes / 100 || table.deadRows > 0)
    .map((table) => {
      const { name, heap, toast, deadRows } = table
      const indexes = Object.entries(table.indexes)
        .filter(([, bytes]) => bytes >= rawBytes / 500)
        .map(([index, bytes]) => `${index} ${share(bytes)}`)
      const parts = [`rows ${share(heap)}`, `toast ${share(toast)}`, ...indexes]
      return `${name} ${share(bytesOf(table))}: ${parts.join(', ')}; ${deadRows} dead rows`
    })
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
