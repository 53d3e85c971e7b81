import { DEFAULT_DATABASE } from '@heddle/runtime'
import type { MoveServer } from './move-server.js'

/**
 * Numbers that each database has to itself, of those that servers give to rows: rows keep theirs in every database to which their
 * project moves. The numbers of 8,000 databases are exact in JavaScript.
 */
const NUMBERS_PER_DATABASE = 2 ** 40

/** Lets the numbers of a database begin in its own range; the default database has the first. */
export async function reserveNumbers(directory: MoveServer, name: string, server: MoveServer): Promise<void> {
  if (name === DEFAULT_DATABASE) return
  const from = (await ordinalOf(directory, name)) * NUMBERS_PER_DATABASE
  await server.run(async (sql) => {
    const sequences = await sql<{ sequence: string }[]>`
      select pg_get_serial_sequence(format('heddle.%I', c.relname), a.attname) as sequence
      from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = 'heddle'::regnamespace and c.relkind = 'r' and a.attidentity <> ''`
    for (const { sequence } of sequences) {
      await sql.unsafe(`select setval('${sequence}'::regclass, ${from}) from ${sequence} where last_value < ${from}`)
    }
  })
}

async function ordinalOf(directory: MoveServer, name: string): Promise<number> {
  return await directory.begin(async (tx) => {
    await tx`lock table heddle_placement.databases in share row exclusive mode`
    await tx`
      insert into heddle_placement.databases (name, ordinal)
      select ${name}, coalesce(max(ordinal), 0) + 1 from heddle_placement.databases
      on conflict (name) do nothing`
    const [row] = await tx<{ ordinal: number }[]>`
      select ordinal from heddle_placement.databases where name = ${name}`
    if (row === undefined) throw new Error('a database is missing after its insert')
    return row.ordinal
  })
}
