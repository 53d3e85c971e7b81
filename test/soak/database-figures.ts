import postgres from 'postgres'
import type { DatabaseSample, TableSample } from './sample.js'

export interface DatabaseReader {
  read(): Promise<DatabaseSample>
  close(): Promise<void>
}

/** Reads with its own connection, which it does not count. */
export function openDatabaseReader(url: string): DatabaseReader {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  return {
    async read() {
      const [sizes] = await sql<{ bytes: number; connections: number; messages: number; contexts: number }[]>`
        select pg_database_size(current_database())::float8 as bytes,
          (select count(*)::int from pg_stat_activity
            where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()) as connections,
          (select count(*)::int from heddle.messages) as messages,
          (select count(*)::int from heddle.contexts) as contexts`
      if (sizes === undefined) throw new Error('the database returned no sizes')
      const tables = await sql<TableSample[]>`
        select coalesce(pg_partition_root(relid)::regclass, relid::regclass)::text as "table",
          sum(pg_total_relation_size(relid))::float8 as bytes,
          sum(n_live_tup)::float8 as "liveRows", sum(n_dead_tup)::float8 as "deadRows",
          sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 as "rowsRead"
        from pg_stat_user_tables group by 1 order by 2 desc`
      return { ...sizes, tables: [...tables] }
    },
    close: () => sql.end(),
  }
}
