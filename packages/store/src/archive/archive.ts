import { createHash, randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Tx } from '../connection/connection.js'
import { formatTime } from '../connection/times.js'
import type { Columns } from '../schema/rows.js'
import { asArray, asQuotedArray } from '../sql/arrays.js'
import { encodeText, toStorable } from '../sql/text.js'
import { type PackedContent, packContent } from './archive-content.js'
import { textsOfMessages } from './texts-of-messages.js'

/** The full content of a condensed or removed message. */
export interface NewArchiveEntry
  extends Columns<
      'archive',
      'threadId' | 'messageId' | 'contentType' | 'summary' | 'toolName' | 'tokenCount' | 'originalCreatedAtMs'
    >,
    Partial<Columns<'archive', 'location' | 'failed'>> {
  /** Stored byte for byte, whatever it contains. */
  readonly content: string
  readonly filePaths: readonly string[]
}

/** An entry as shown. */
export type ArchiveEntry = Columns<
  'archive',
  | 'id'
  | 'threadId'
  | 'messageId'
  | 'contentType'
  | 'summary'
  | 'filePaths'
  | 'toolName'
  | 'tokenCount'
  | 'failed'
  | 'originalCreatedAtMs'
  | 'archivedAtMs'
  | 'lastAccessedAtMs'
  | 'accessCount'
>

/** An entry; its `contentHash` is the parameter of {@link readArchiveContent}, null where the message has the text. */
export type ArchiveEntryRow = ArchiveEntry & Columns<'archive', 'location' | 'contentHash'>

/**
 * Archives contents. An existing entry, by its thread, message and location, is not changed.
 *
 * Invariant: a content's `reference_count` is the number of entries that name it. A content that its message has, too, is
 * stored with the message alone; each other distinct content of a project is compressed and stored once.
 *
 * @returns the ids of the entries, in the order given
 */
export async function archiveEntries(tx: Tx, entries: readonly NewArchiveEntry[]): Promise<string[]> {
  if (entries.length === 0) return []
  const given = entries.map(({ content, location = '', ...entry }) => {
    const bytes = encodeText(content)
    const hash = createHash('sha256').update(bytes).digest('hex')
    return { ...entry, id: randomUUID(), location, bytes, hash }
  })
  const ofMessages = await textsOfMessages(tx, given)
  const rows = given.map((row, place) => (ofMessages.has(place) ? { ...row, hash: null } : row))
  const contents = new Map(rows.flatMap(({ hash, bytes }) => (hash === null ? [] : [[hash, bytes] as const])))
  await storeContents(tx, contents)

  const threadIds = asArray(rows.map(({ threadId }) => threadId))
  const messageIds = asArray(rows.map(({ messageId }) => messageId))
  const locations = asQuotedArray(rows.map(({ location }) => location))
  const [, stored] = await Promise.all([
    tx`
      with added as (
        insert into heddle.archive (
          id, thread_id, message_id, location, content_type, summary, content_hash, file_paths, tool_name, token_count,
          failed, original_created_at)
        select
          id, thread_id, message_id, location, content_type, summary, decode(hash, 'hex'), file_paths::text[], tool_name,
          token_count, failed, original_created_at
        from unnest(
          ${asArray(rows.map(({ id }) => id))}::uuid[], ${threadIds}::uuid[], ${messageIds}::uuid[], ${locations}::text[],
          ${asQuotedArray(rows.map(({ contentType }) => contentType))}::text[],
          ${asQuotedArray(rows.map(({ summary }) => toStorable(summary)))}::text[],
          ${asQuotedArray(rows.map(({ hash }) => hash))}::text[],
          ${asQuotedArray(rows.map(({ filePaths }) => asQuotedArray(filePaths.map(toStorable))))}::text[],
          ${asQuotedArray(rows.map(({ toolName }) => toolName && toStorable(toolName)))}::text[],
          ${asArray(rows.map(({ tokenCount }) => tokenCount))}::integer[],
          ${asQuotedArray(rows.map(({ failed = false }) => failed))}::boolean[],
          ${asQuotedArray(rows.map(({ originalCreatedAtMs }) => formatTime(originalCreatedAtMs)))}::timestamptz[]
        ) as entry (
          id, thread_id, message_id, location, content_type, summary, hash, file_paths, tool_name, token_count, failed,
          original_created_at)
        on conflict (thread_id, message_id, location) do nothing
        returning project_id, content_hash
      ),
      referenced as (
        select project_id, content_hash, count(*) as times from added
        where content_hash is not null group by project_id, content_hash
      )
      update heddle.archive_contents as content
      set reference_count = content.reference_count + referenced.times
      from referenced
      where content.project_id = referenced.project_id and content.hash = referenced.content_hash`,
    tx<{ place: number; id: string }[]>`
      select given.place::integer, found.id
      from unnest(${threadIds}::uuid[], ${messageIds}::uuid[], ${locations}::text[])
        with ordinality as given (thread_id, message_id, location, place)
      cross join lateral (
        select id from heddle.archive
        where archive.thread_id = given.thread_id and archive.message_id = given.message_id
          and archive.location = given.location
        offset 0) as found
      order by given.place`,
    // Contents of entries that existed already with other contents: no entry names them.
    tx`
      delete from heddle.archive_contents
      where project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)
        and hash in (select decode(given, 'hex') from unnest(${asArray(contents.keys())}::text[]) as given)
        and reference_count = 0`,
  ])
  return stored.map(({ id }) => id)
}

const CONTENTS_PER_YIELD = 100

/** Locks existing contents in the order of their hashes, so that they are not removed meanwhile; adds the others. */
export async function storeContents(tx: Tx, contents: ReadonlyMap<string, Buffer>): Promise<void> {
  const present = await tx<{ hash: string }[]>`
    select encode(hash, 'hex') as hash from heddle.archive_contents
    where project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)
      and hash in (select decode(given, 'hex') from unnest(${asArray(contents.keys())}::text[]) as given)
    order by archive_contents.hash
    for no key update`
  const known = new Set(present.map(({ hash }) => hash))
  const added: (PackedContent & { readonly hash: string; readonly sizeBytes: number })[] = []
  for (const [hash, text] of contents) {
    if (known.has(hash)) continue
    added.push({ hash, sizeBytes: text.length, ...(await packContent(text)) })
    // Small contents are compressed synchronously, so other work of the process gets a chance in between.
    if (added.length % CONTENTS_PER_YIELD === 0) await setImmediate()
  }
  if (added.length === 0) return
  await tx`
    insert into heddle.archive_contents (hash, content, size_bytes, blocks)
    select decode(hash, 'hex'), decode(content, 'base64'), size_bytes, blocks::json
    from unnest(
      ${asArray(added.map(({ hash }) => hash))}::text[],
      ${asArray(added.map(({ content }) => content.toString('base64')))}::text[],
      ${asArray(added.map(({ sizeBytes }) => sizeBytes))}::integer[],
      ${asQuotedArray(added.map(({ blocks }) => blocks && JSON.stringify(blocks)))}::text[]
    ) as content (hash, content, size_bytes, blocks)
    order by hash
    -- One that another transaction has just added is held as the others are.
    on conflict (project_id, hash) do update set size_bytes = excluded.size_bytes`
}

/** @returns null without an entry */
export async function findArchiveEntry(
  tx: Tx,
  { threadId, messageId, location = '' }: { threadId: string; messageId: string; location?: string },
): Promise<ArchiveEntryRow | null> {
  const [entry] = await tx<ArchiveEntryRow[]>`
    select
      id, thread_id, message_id, location, content_type, summary, content_hash, to_json(file_paths) as file_paths,
      tool_name, token_count, failed, original_created_at as original_created_at_ms, archived_at as archived_at_ms,
      last_accessed_at as last_accessed_at_ms, access_count
    from heddle.archive
    where thread_id = ${threadId} and message_id = ${messageId} and location = ${location}`
  return entry ?? null
}

/** Recalls of one entry that were not counted yet. */
export interface Accesses {
  readonly id: string
  readonly count: number
  readonly lastAtMs: number
}

/** Counts recalls. Entries are locked in the order of their ids, so that two writers cannot deadlock. */
export async function recordAccesses(tx: Tx, accesses: readonly Accesses[]): Promise<void> {
  if (accesses.length === 0) return
  const rows = accesses.map(({ id, count, lastAtMs }) => ({ id, count, last_at: formatTime(lastAtMs) }))
  await tx`
    with accessed as (
      select id, count, last_at
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as given (id uuid, count integer, last_at timestamptz)
    ),
    locked as (
      select archive.id from heddle.archive
      where archive.id = any(${asArray(accesses.map(({ id }) => id))}::uuid[])
      order by archive.id
      for no key update
    )
    update heddle.archive as entry
    set access_count = entry.access_count + accessed.count,
        last_accessed_at = greatest(entry.last_accessed_at, accessed.last_at)
    from accessed
    join locked on locked.id = accessed.id
    where entry.id = locked.id`
}
