import { once } from 'node:events'
import type { Tx } from '../../connection/connection.js'
import { listOf, type MovedTable, namesOf } from './moved-tables.js'

/**
 * Passes the rows of a query on one server into a table of another, as COPY writes them.
 *
 * @param query of one that this program wrote: COPY takes no parameters
 * @returns their number
 */
export async function passRows(from: Tx, to: Tx, { query, into }: { query: string; into: string }): Promise<number> {
  const rows = await from.unsafe(`copy (${query}) to stdout`).readable()
  let [count, sink]: [number, RowSink | null] = [0, null]
  let refusal: { error: unknown } | null = null
  for await (const chunk of rows) {
    // The driver would wait for ever behind a stream that is left with rows in it.
    if (refusal !== null) continue
    const bytes = chunk as Buffer
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count++
    // Most tables have no rows of a project, and an empty COPY takes as long as a delayed acknowledgement of TCP.
    sink ??= await openSink(to, into)
    await sink.write(bytes).catch((error: unknown) => {
      refusal = { error }
    })
  }
  // The driver pauses its socket while the stream is full, and would leave it paused if the last rows had filled it.
  rows._read(0)
  if (refusal !== null) throw (refusal as { error: unknown }).error
  await sink?.end()
  return count
}

interface RowSink {
  write(bytes: Buffer): Promise<void>
  end(): Promise<void>
}

async function openSink(to: Tx, into: string): Promise<RowSink> {
  const query = to.unsafe(`copy ${into} from stdin`)
  const sink = await query.writable()
  const failed = new Promise<never>((_, reject) => {
    sink.on('error', reject)
    // The driver settled the query when it gave the stream, and neither ends nor destroys a stream that is ending when the server
    // refuses its rows.
    Object.assign(query, { reject })
  })
  failed.catch(() => undefined)
  return {
    async write(bytes) {
      await Promise.race([failed, sink.write(bytes) || once(sink, 'drain')])
    },
    async end() {
      const finished = once(sink, 'finish')
      finished.catch(() => undefined)
      sink.end()
      await Promise.race([failed, finished])
    },
  }
}

/** Copies the rows of a project, as of the snapshot of `from`, within the transaction of `to`. */
export async function copyProject(
  from: Tx,
  to: Tx,
  { tables, projectId, onTable }: { tables: readonly MovedTable[]; projectId: string; onTable: OnTable },
): Promise<void> {
  for (const table of tables) {
    const columns = listOf(namesOf(table))
    const rows = await passRows(from, to, {
      query: `select ${columns} from heddle."${table.table}" where project_id = '${projectId}'`,
      into: `heddle."${table.table}" (${columns})`,
    })
    onTable(table.table, rows)
  }
}

export type OnTable = (table: string, rows: number) => void
