import { randomUUID } from 'node:crypto'
import type { ExportRecordOf } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import { givenColumns, insertColumns, recordColumns } from './export-columns.js'
import { exportTables } from './export-tables.js'

/** The ids of a file's states by their numbers; null for one that could not be added. */
export type ImportedStates = Map<number, string | null>

/**
 * Adds compactions. One that exists already is recognized by its position and time. One whose position is taken by another
 * is skipped, because the thread continued without it.
 */
export async function importStates(
  tx: Tx,
  {
    threadId,
    records,
    known,
  }: { threadId: string; records: readonly ExportRecordOf<'state'>[]; known: ImportedStates },
): Promise<number> {
  const definition = exportTables.state
  const present = await tx<{ number: number; id: string }[]>`
    select given.number, state.id
    from json_to_recordset(${JSON.stringify(records)}::text::json) as given (number integer, ${recordColumns(tx, definition)})
    join (
      select * from heddle.context_states where thread_id = ${threadId} and status <> 'void'
      union all
      select * from heddle.context_states where thread_id = ${threadId} and status = 'void'
    ) as state
      on state.lane = given.lane and state.clear_epoch = given."clearEpoch" and state.generation = given.generation
      and state.created_at = given."createdAt" and state.head_seq = given."headSeq" and state.point_id = given."pointId"`
  for (const { number, id } of present) known.set(number, id)
  const fresh = records.filter(({ number }) => !known.has(number))
  const ids = new Map(fresh.map(({ number }) => [number, randomUUID()]))
  const rows = fresh.map((record) => ({
    ...record,
    id: ids.get(record.number),
    replacesId: record.replaces === null ? null : (ids.get(record.replaces) ?? known.get(record.replaces) ?? null),
  }))
  const added = await tx<{ id: string }[]>`
    insert into heddle.context_states (id, thread_id, replaces, ${insertColumns(tx, definition)})
    select given.id, ${threadId}, given."replacesId", ${givenColumns(tx, definition)}
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as given (
      id uuid, "replacesId" uuid, ${recordColumns(tx, definition)})
    on conflict do nothing
    returning id`
  const inserted = new Set(added.map(({ id }) => id))
  for (const [number, id] of ids) known.set(number, inserted.has(id) ? id : null)
  return added.length
}

/** Adds prunings of states that exist. */
export async function importPrunings(
  tx: Tx,
  {
    threadId,
    records,
    known,
  }: { threadId: string; records: readonly ExportRecordOf<'pruning'>[]; known: ImportedStates },
): Promise<number> {
  const definition = exportTables.pruning
  const rows = records.map(({ archive, ...record }) => ({
    ...record,
    stateId: known.get(record.state) ?? null,
    archiveMessageId: archive.messageId,
    archiveLocation: archive.location,
  }))
  const { count } = await tx`
    insert into heddle.prunings (thread_id, state_id, archive_id, ${insertColumns(tx, definition)})
    select ${threadId}, given."stateId", entry.id, ${givenColumns(tx, definition)}
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as given (
      "stateId" uuid, "archiveMessageId" uuid, "archiveLocation" text, ${recordColumns(tx, definition)})
    cross join lateral (
      select id from heddle.archive
      where archive.thread_id = ${threadId} and archive.message_id = given."archiveMessageId"
        and archive.location = given."archiveLocation"
      offset 0) as entry
    where given."stateId" is not null
    on conflict do nothing`
  return count
}
