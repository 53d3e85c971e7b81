import type { Tx } from '../connection/connection.js'
import { threadStands } from '../messages/tombstones.js'
import { givenPlaces, type HitPlace, placesJson } from '../search/search-hits.js'
import { byKey } from '../sql/index-order.js'
import {
  type ArchiveSelection,
  conditions,
  entryColumns,
  lineOf,
  type SelectedEntry,
  within,
} from './archive-selection.js'

/** An archived message that a search found. */
export interface ArchivedRow extends SelectedEntry {
  /** Index into the requested places. */
  readonly place: number
}

/** Conditions that the ranking cannot check. It also checks scope and path, but the check here is more exact. */
export type ArchivedConditions = Pick<
  ArchiveSelection,
  'kinds' | 'toolName' | 'path' | 'failed' | 'sinceMs' | 'untilMs'
>

/** The archived messages among the given places that meet all conditions, in the order of the places. */
export async function loadArchivedRows(
  tx: Tx,
  { places, ...selection }: ArchivedConditions & { readonly places: readonly HitPlace[] },
): Promise<ArchivedRow[]> {
  const given = placesJson(places)
  return await tx<ArchivedRow[]>`
    select
      given.place, entry.*, thread.name as thread_name, thread.code as thread_code, message.code, message.source_id,
      pruned.line
    from ${givenPlaces(tx, given)}
    cross join lateral (
      select name, code from heddle.threads as thread
      where thread.id = given.thread_id and ${threadStands(tx)}
      offset 0) as thread
    cross join lateral (
      select id, code, source_id from heddle.messages
      where messages.thread_id = given.stored_in and ${byKey(tx, tx`messages.seq`, tx`given.seq`)}) as message
    cross join lateral (
      select ${entryColumns(tx)} from heddle.archive
      where archive.thread_id in (given.thread_id, given.stored_in) and archive.message_id = message.id
        and ${conditions(tx, selection)} and ${within(tx, selection)}
      -- The message itself before its calls.
      order by archive.location
      limit 1) as entry
    left join lateral (${lineOf(tx)}) as pruned on true
    order by given.place`
}
