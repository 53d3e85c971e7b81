import { ConflictError } from '@heddle/contracts'
import type { Tx } from '../../connection/connection.js'
import { listOf, type MovedTable, namesOf } from './moved-tables.js'

/** The number of a table's rows of a project, and the sum of hashes of their values. */
export interface TableSum {
  readonly table: string
  readonly rows: number
  readonly sum: string
}

/** Reads all rows of a project, as of the snapshot of `sql`. */
export async function sumTables(
  sql: Tx,
  { tables, projectId }: { tables: readonly MovedTable[]; projectId: string },
): Promise<TableSum[]> {
  const sums: TableSum[] = []
  // All rows are read: see `applyChanges`.
  await sql.unsafe('set local enable_seqscan = on')
  for (const table of tables) {
    // In one order of columns: tables of different first versions have them in different ones.
    const columns = listOf(namesOf(table).sort(), 'moved')
    const [row] = await sql.unsafe<{ rows: number; sum: string }[]>(`
      select count(*) as rows, coalesce(sum(hashtextextended(row(${columns})::text, 0)::numeric), 0)::text as sum
      from heddle."${table.table}" as moved where project_id = '${projectId}'`)
    sums.push({ table: table.table, rows: row?.rows ?? 0, sum: row?.sum ?? '' })
  }
  return sums
}

/** @throws ConflictError that names the tables whose rows differ */
export function compareSums(from: readonly TableSum[], to: readonly TableSum[]): void {
  const different = from.filter(({ rows, sum }, place) => to[place]?.rows !== rows || to[place]?.sum !== sum)
  if (different.length === 0) return
  const facts = different.map(({ table, rows }) => ({
    table,
    rows,
    copied: to.find((each) => each.table === table)?.rows ?? 0,
  }))
  throw new ConflictError(`the copy differs in ${different.map(({ table }) => table).join(', ')}`, {
    facts: { tables: facts },
    hint: 'The project is still where it was. Remove the copy with --abandon, and report this.',
  })
}
