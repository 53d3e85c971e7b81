import type { MoveServer } from './move-server.js'
import type { MovedTable } from './moved-tables.js'

/** Pages of a table that one transaction reads, at 8 KB each: it deletes some tens of thousands of rows at most. */
const PAGES_PER_STEP = 1_000

/**
 * Deletes the rows of a project, in steps: each reads a range of the table's pages, because most tables have no index by project.
 * A repetition after an interruption begins at the first page, and finds less.
 *
 * @returns their number
 */
export async function removeRows(
  server: MoveServer,
  { tables, projectId }: { tables: readonly MovedTable[]; projectId: string },
): Promise<number> {
  const pages = await pagesOf(server)
  let removed = 0
  for (const { table } of tables.toReversed()) {
    for (let page = 0; page < (pages.get(table) ?? 0); page += PAGES_PER_STEP) {
      const { count } = await server.asMove((tx) =>
        tx.unsafe(`
          delete from heddle."${table}"
          where ctid >= '(${page},0)'::tid and ctid < '(${page + PAGES_PER_STEP},0)'::tid and project_id = '${projectId}'`),
      )
      removed += count
    }
  }
  return removed
}

/** Nothing writes rows of the project any more, so that a table does not grow by them. */
async function pagesOf(server: MoveServer): Promise<Map<string, number>> {
  return await server.run(async (sql) => {
    const sizes = await sql<{ table: string; pages: number }[]>`
      select relname as table, pg_relation_size(oid) / current_setting('block_size')::integer as pages
      from pg_class where relnamespace = 'heddle'::regnamespace and relkind = 'r'`
    return new Map(sizes.map(({ table, pages }) => [table, pages]))
  })
}
