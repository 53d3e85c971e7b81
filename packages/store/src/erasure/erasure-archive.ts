import type { PendingQuery, Row } from 'postgres'
import type { Tx } from '../connection/connection.js'
import { asArray } from '../sql/arrays.js'
import { type Removed, ROWS_PER_STEP, type Taker } from './erasure-step.js'

/**
 * Removes archive entries of a thread, and contents that no other entry of the project refers to. Contents are locked in the
 * order of their hashes, as in archiving, so that the two cannot deadlock.
 */
export const takeArchive: Taker = (tx, { targetId }) =>
  takeArchived(
    tx,
    tx`
      thread_id = ${targetId} and message_id = any(array(
        select message_id from heddle.archive where thread_id = ${targetId} limit ${ROWS_PER_STEP}))`,
  )

/** The same for some messages of a thread. */
export function takeArchiveOf(tx: Tx, threadId: string, ids: readonly string[]): Promise<Removed> {
  return takeArchived(tx, tx`thread_id = ${threadId} and message_id = any(${asArray(ids)}::uuid[])`)
}

async function takeArchived(tx: Tx, condition: PendingQuery<Row[]>): Promise<Removed> {
  const removed = await tx<{ hash: string | null; times: number }[]>`
    with removed as (
      delete from heddle.archive
      where ${condition}
      returning content_hash
    )
    select encode(content_hash, 'hex') as hash, count(*) as times from removed group by content_hash`
  const archive = removed.reduce((sum, { times }) => sum + times, 0)
  const released = removed.flatMap(({ hash, times }) => (hash === null ? [] : [{ hash, times }]))
  if (released.length === 0) return { archive }

  const named = tx`
    project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)
    and hash in (select decode(given, 'hex') from unnest(${asArray(released.map(({ hash }) => hash))}::text[]) as given)`
  const [, , contents] = await Promise.all([
    tx`select from heddle.archive_contents where ${named} order by hash for update`,
    tx`
      update heddle.archive_contents as content
      set reference_count = content.reference_count - released.times
      from json_to_recordset(${JSON.stringify(released)}::text::json) as released (hash text, times integer)
      where content.project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)
        and content.hash = decode(released.hash, 'hex')`,
    tx`delete from heddle.archive_contents where ${named} and reference_count <= 0`,
  ])
  return { archive, archive_contents: contents.count }
}
