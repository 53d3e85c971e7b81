import type { Tx } from '../../connection/connection.js'
import { asArray, asQuotedArray } from '../../sql/arrays.js'
import { listOf, type MovedTable, namesOf, typeOf } from './moved-tables.js'

/*
 * The rows whose changes were noted are read again and written over their copies. A round is a snapshot of the former database and
 * one transaction of the new one: the copy is then what the project was at that moment, so that references are never broken. Rows
 * that are gone are deleted first, those that refer to others before them; then rows are written in the opposite order.
 */

/** Keys of one statement: their rows fit into memory, also those with the longest messages. */
const KEYS_AT_ONCE = 200
/** The statements of a round with fewer changes are sent together. */
const CHANGES_TOGETHER = 1_000

interface ChangedTable {
  readonly table: MovedTable
  /** As JSON. */
  readonly keys: readonly string[]
}

/**
 * Applies the changes that are noted in the snapshot of `from`, within the transaction of `to`.
 *
 * @returns the numbers of the notes
 */
export async function applyChanges(
  from: Tx,
  to: Tx,
  { tables, projectId }: { tables: readonly MovedTable[]; projectId: string },
): Promise<number[]> {
  const notes = await from<{ id: number; table: string; key: string }[]>`
    select id, table_name as table, key::text as key from heddle_placement.changes order by id`
  if (notes.length === 0) return []
  const changed = tables.flatMap((table): ChangedTable[] => {
    const keys = new Set(notes.filter((note) => note.table === table.table).map(({ key }) => key))
    return keys.size === 0 ? [] : [{ table, keys: [...keys] }]
  })
  await Promise.all([from, to].map((tx) => tx.unsafe('set local enable_seqscan = off')))
  const gone = await Promise.all(changed.map((each) => findGone(from, each, projectId)))
  for (const each of gone.toReversed()) await deleteGone(to, each, projectId)
  const reads = changed.flatMap(({ table, keys }) => parts(keys).map((some) => ({ table, keys: some })))
  const read = async (each: ChangedTable) => ({ table: each.table, rows: await readRows(from, each, projectId) })
  if (notes.length <= CHANGES_TOGETHER) {
    const found = await Promise.all(reads.map(read))
    // In the order of the tables: the server runs statements of one connection as they come.
    await Promise.all(found.map(({ table, rows }) => writeRows(to, table, rows)))
  } else {
    for (const each of reads) await writeRows(to, each.table, (await read(each)).rows)
  }
  return notes.map(({ id }) => id)
}

/** Removes applied notes. Others may have come meanwhile, with lower numbers, too. */
export async function forgetChanges(sql: Tx, ids: readonly number[]): Promise<void> {
  for (let at = 0; at < ids.length; at += NOTES_AT_ONCE) {
    const some = asArray(ids.slice(at, at + NOTES_AT_ONCE))
    await sql`delete from heddle_placement.changes where id = any(${some}::bigint[])`
  }
}

const NOTES_AT_ONCE = 10_000

async function findGone(from: Tx, { table, keys }: ChangedTable, projectId: string): Promise<ChangedTable> {
  const rows = await from.unsafe<{ key: string }[]>(
    `select noted.key from unnest($1::text[]) as noted (key) left join ${rowByKey(table)} on true
     where found.project_id is distinct from $2::uuid`,
    [asQuotedArray(keys), projectId],
  )
  return { table, keys: rows.map(({ key }) => key) }
}

async function deleteGone(to: Tx, { table, keys }: ChangedTable, projectId: string): Promise<void> {
  if (keys.length === 0) return
  await to.unsafe(
    `delete from heddle."${table.table}" where ctid = any(array(
       select found.ctid from unnest($1::text[]) as noted (key) cross join ${rowByKey(table)}
       where found.project_id = $2::uuid))`,
    [asQuotedArray(keys), projectId],
  )
}

/** Rows as texts that the server reads as rows of the table. */
async function readRows(from: Tx, { table, keys }: ChangedTable, projectId: string): Promise<string[]> {
  const rows = await from.unsafe<{ row: string }[]>(
    `select row(${listOf(table.rowColumns, 'found')})::text as row
     from unnest($1::text[]) as noted (key) cross join ${rowByKey(table)}
     where found.project_id = $2::uuid`,
    [asQuotedArray(keys), projectId],
  )
  return rows.map(({ row }) => row)
}

/** The limit, which changes nothing, lets the planner find each row by its key alone, whatever it knows of the table. */
function rowByKey(table: MovedTable): string {
  const isSame = table.keys.map((key) => `"${key}" = (noted.key::jsonb->>'${key}')::${typeOf(table, key)}`)
  return `lateral (select ctid, * from heddle."${table.table}" where ${isSame.join(' and ')} limit 1) as found`
}

async function writeRows(to: Tx, table: MovedTable, rows: readonly string[]): Promise<void> {
  if (rows.length === 0) return
  const names = namesOf(table)
  const values = names.filter((name) => !table.keys.includes(name) && !table.numbered.includes(name))
  const set = values.map((name) => `"${name}" = excluded."${name}"`).join(', ')
  const some = asQuotedArray(rows)
  const source = `unnest($1::text[]::heddle."${table.table}"[]) as moved`
  const insert = to.unsafe(
    `insert into heddle."${table.table}" (${listOf(names)}) overriding system value
     select ${listOf(names, 'moved')} from ${source}
     on conflict (${listOf(table.keys)}) do ${set === '' ? 'nothing' : `update set ${set}`}`,
    [some],
  )
  const isRenumbered = table.numbered
    .filter((name) => !table.keys.includes(name))
    .map((name) => `copied."${name}" <> moved."${name}"`)
  if (isRenumbered.length === 0) return void (await Promise.all([insert]))
  // The server numbers a row again that is deleted and inserted again. The statements are sent together: see `applyChanges`.
  const isSame = table.keys.map((key) => `copied."${key}" = moved."${key}"`)
  const remove = to.unsafe(
    `delete from heddle."${table.table}" as copied using ${source}
     where ${isSame.join(' and ')} and (${isRenumbered.join(' or ')})`,
    [some],
  )
  await Promise.all([remove, insert])
}

function parts(keys: readonly string[]): string[][] {
  const all: string[][] = []
  for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) all.push(keys.slice(at, at + KEYS_AT_ONCE))
  return all
}
