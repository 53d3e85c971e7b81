import type { ExportRecordOf } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import { noteFactChange } from '../facts/fact-scopes.js'
import { givenColumns, insertColumns, recordColumns } from './export-columns.js'
import { exportTables } from './export-tables.js'

/** Adds the facts of a thread. Those that its agent has under the same ids stay unchanged. */
export async function importFacts(
  tx: Tx,
  { threadId, records }: { readonly threadId: string; readonly records: readonly ExportRecordOf<'fact'>[] },
): Promise<number> {
  const definition = exportTables.fact
  const added = await tx<{ agentId: string }[]>`
    insert into heddle.facts (agent_id, thread_id, ${insertColumns(tx, definition)})
    select thread.agent_id, thread.id, ${givenColumns(tx, definition)}
    from heddle.threads as thread,
      json_to_recordset(${JSON.stringify(records)}::text::json) as given (${recordColumns(tx, definition)})
    where thread.id = ${threadId}
    on conflict do nothing
    returning agent_id`
  const [first] = added
  if (first !== undefined) await noteFactChange(tx, { agentId: first.agentId, threadId })
  return added.length
}
