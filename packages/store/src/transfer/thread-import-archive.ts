import { createHash } from 'node:crypto'
import { type ExportRecordOf, validationError } from '@heddle/contracts'
import { storeContents } from '../archive/archive.js'
import type { Tx } from '../connection/connection.js'
import { encodeText } from '../sql/text.js'
import { givenColumns, insertColumns, recordColumns } from './export-columns.js'
import { exportTables } from './export-tables.js'

/** Adds contents. Their hashes are computed here, so a file cannot store a content under another one's hash. */
export async function importContents(tx: Tx, texts: readonly string[]): Promise<void> {
  const contents = texts.map((text) => encodeText(text))
  await storeContents(tx, new Map(contents.map((content) => [hashOf(content), content])))
}

function hashOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

/** Adds archive entries. Contents that they name must exist. */
export async function importArchive(
  tx: Tx,
  { threadId, records }: { threadId: string; records: readonly ExportRecordOf<'archive'>[] },
): Promise<number> {
  const definition = exportTables.archive
  const [row] = await tx<{ added: number; missing: number }[]>`
    with given as materialized (
      select * from json_to_recordset(${JSON.stringify(records)}::text::json) as given (${recordColumns(tx, definition)})
    ),
    held as materialized (
      select content.project_id, content.hash from heddle.archive_contents as content
      where content.project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)
        and content.hash in (select "contentHash" from given)
      order by content.hash
      for no key update
    ),
    added as (
      insert into heddle.archive (id, thread_id, ${insertColumns(tx, definition)})
      select gen_random_uuid(), ${threadId}, ${givenColumns(tx, definition)}
      from given
      where "contentHash" is null or "contentHash" in (select hash from held)
      on conflict (thread_id, message_id, location) do nothing
      returning content_hash
    ),
    referenced as (
      select content_hash, count(*) as times from added where content_hash is not null group by content_hash),
    counted as (
      update heddle.archive_contents as content
      set reference_count = content.reference_count + referenced.times
      from referenced
      where content.project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)
        and content.hash = referenced.content_hash
    )
    select
      (select count(*) from added) as added,
      (select count(*) from given
        where "contentHash" is not null and "contentHash" not in (select hash from held)) as missing`
  if (row !== undefined && row.missing > 0) {
    throw validationError('contentHash', 'must name a content that precedes it in the file', `${row.missing} others`)
  }
  return row?.added ?? 0
}
