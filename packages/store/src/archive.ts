import { createHash, randomUUID } from 'node:crypto'
import { blocksOfLines, packContent, unpackBlocks, unpackContent } from './archive-content.js'
import { asArray } from './arrays.js'
import type { Tx } from './connection.js'
import type { ContentBlocks } from './schema/compaction.js'
import { encodeText, toStorable } from './text.js'
import { formatTime } from './times.js'

/** The full content of what was condensed or removed. */
export interface NewArchiveEntry {
  readonly threadId: string
  readonly messageId: string
  /** The part of the message: empty for the whole of it. */
  readonly location?: string
  readonly contentType: string
  readonly summary: string
  /** Kept to the byte, whatever it holds. */
  readonly content: string
  readonly filePaths: readonly string[]
  readonly toolName: string | null
  readonly tokenCount: number
  /** Whether the tool reported that it failed. Default false. */
  readonly failed?: boolean
  readonly originalCreatedAtMs: number
}

export interface ArchiveEntryRow extends Required<Omit<NewArchiveEntry, 'content'>> {
  readonly id: string
  /** SHA-256 of the content: what {@link readArchiveContent} takes. */
  readonly contentHash: Uint8Array
  readonly archivedAtMs: number
  readonly lastAccessedAtMs: number | null
  readonly accessCount: number
}

/**
 * Archives contents. An entry that is there already, by its thread, message and location, stays as it is.
 *
 * Invariant: a content's `reference_count` is the number of entries that name it. Each distinct content of a project is
 * compressed and stored once.
 *
 * @returns the ids of the entries, in the order given
 */
export async function archiveEntries(tx: Tx, entries: readonly NewArchiveEntry[]): Promise<string[]> {
  if (entries.length === 0) return []
  const contents = new Map<string, Buffer>()
  const rows = entries.map((entry) => {
    const content = encodeText(entry.content)
    const hash = createHash('sha256').update(content).digest('hex')
    contents.set(hash, content)
    return {
      id: randomUUID(),
      thread_id: entry.threadId,
      message_id: entry.messageId,
      location: entry.location ?? '',
      content_type: entry.contentType,
      summary: toStorable(entry.summary),
      hash,
      file_paths: entry.filePaths.map(toStorable),
      tool_name: entry.toolName === null ? null : toStorable(entry.toolName),
      token_count: entry.tokenCount,
      failed: entry.failed ?? false,
      original_created_at_ms: entry.originalCreatedAtMs,
    }
  })
  await storeContents(tx, contents)

  const given = JSON.stringify(rows)
  const [, stored] = await Promise.all([
    tx`
      with added as (
        insert into heddle.archive (
          id, thread_id, message_id, location, content_type, summary, content_hash, file_paths, tool_name, token_count,
          failed, original_created_at)
        select
          id, thread_id, message_id, location, content_type, summary, decode(hash, 'hex'), file_paths, tool_name,
          token_count, failed, to_timestamp(original_created_at_ms / 1000)
        from json_to_recordset(${given}::text::json) as entry (
          id uuid, thread_id uuid, message_id uuid, location text, content_type text, summary text, hash text,
          file_paths text[], tool_name text, token_count integer, failed boolean, original_created_at_ms double precision)
        on conflict (thread_id, message_id, location) do nothing
        returning project_id, content_hash
      ),
      referenced as (
        select project_id, content_hash, count(*) as times from added group by project_id, content_hash
      )
      update heddle.archive_contents as content
      set reference_count = content.reference_count + referenced.times
      from referenced
      where content.project_id = referenced.project_id and content.hash = referenced.content_hash`,
    tx<{ place: number; id: string }[]>`
      select given.place::integer, found.id
      from json_to_recordset(${JSON.stringify(rows.map((row, place) => ({ ...row, place })))}::text::json) as given (
        place integer, thread_id uuid, message_id uuid, location text)
      cross join lateral (
        select id from heddle.archive
        where archive.thread_id = given.thread_id and archive.message_id = given.message_id
          and archive.location = given.location
        offset 0) as found
      order by given.place`,
    // Contents of entries that were there already under other contents: nobody names them.
    tx`
      delete from heddle.archive_contents
      where project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)
        and hash in (select decode(given, 'hex') from unnest(${asArray(contents.keys())}::text[]) as given)
        and reference_count = 0`,
  ])
  return stored.map(({ id }) => id)
}

/** Locks the contents that are there, in the order of their hashes, so that none is taken away meanwhile; adds the others. */
export async function storeContents(tx: Tx, contents: ReadonlyMap<string, Buffer>): Promise<void> {
  const present = await tx<{ hash: string }[]>`
    select encode(hash, 'hex') as hash from heddle.archive_contents
    where project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)
      and hash in (select decode(given, 'hex') from unnest(${asArray(contents.keys())}::text[]) as given)
    order by archive_contents.hash
    for no key update`
  const known = new Set(present.map(({ hash }) => hash))
  const added = await Promise.all(
    [...contents]
      .filter(([hash]) => !known.has(hash))
      .map(async ([hash, text]) => {
        const { content, blocks } = await packContent(text)
        return {
          hash,
          size_bytes: text.length,
          content: content.toString('base64'),
          blocks: blocks && JSON.stringify(blocks),
        }
      }),
  )
  if (added.length === 0) return
  await tx`
    insert into heddle.archive_contents (hash, content, size_bytes, blocks)
    select decode(hash, 'hex'), decode(content, 'base64'), size_bytes, blocks::json
    from json_to_recordset(${JSON.stringify(added)}::text::json) as content (
      hash text, content text, size_bytes integer, blocks text)
    order by hash
    -- One that another transaction has just added is held as the others are.
    on conflict (project_id, hash) do update set size_bytes = excluded.size_bytes`
}

/** @returns null where nothing is archived there */
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

/** @returns the content to the byte; null where the project has none of this hash */
export async function readArchiveContent(tx: Tx, hash: Uint8Array): Promise<string | null> {
  const [row] = await tx<{ content: Uint8Array; sizeBytes: number; blocks: ContentBlocks | null }[]>`
    select content, size_bytes, blocks from heddle.archive_contents
    where project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid) and hash = ${hash}`
  return row === undefined ? null : await unpackContent(row)
}

/** An entry together with its content. */
export interface ArchivedContent {
  readonly id: string
  readonly contentType: string
  readonly summary: string
  readonly filePaths: readonly string[]
  readonly content: string
  /** Where `content` is a part of the whole that holds the lines that were asked for; null where it is the whole. */
  readonly part: { readonly linesBefore: number; readonly linesTotal: number } | null
}

/**
 * Reads what a recall shows of an archived message; null where it is not archived.
 *
 * @param lines the lines that are needed, counted from 1: of a long content only a part that holds them is read
 */
export async function readArchived(
  tx: Tx,
  { threadId, messageId, lines }: { threadId: string; messageId: string; lines?: { from: number; to: number } },
): Promise<ArchivedContent | null> {
  const isWhole = lines === undefined
  const [row] = await tx<
    (Omit<ArchivedContent, 'content' | 'part'> & {
      hash: Uint8Array
      content: Uint8Array | null
      sizeBytes: number
      blocks: ContentBlocks | null
    })[]
  >`
    select
      entry.id, entry.content_type, entry.summary, to_json(entry.file_paths) as file_paths, entry.content_hash as hash,
      stored.content, stored.size_bytes, stored.blocks
    from heddle.archive as entry
    cross join lateral (
      select case when ${isWhole} or blocks is null then content end as content, size_bytes, blocks
      from heddle.archive_contents
      where archive_contents.project_id = entry.project_id and archive_contents.hash = entry.content_hash
      offset 0) as stored
    where entry.thread_id = ${threadId} and entry.message_id = ${messageId} and entry.location = ''`
  if (row === undefined) return null
  const { id, contentType, summary, filePaths, hash, content, sizeBytes, blocks } = row
  const entry = { id, contentType, summary, filePaths }
  if (content !== null) return { ...entry, content: await unpackContent({ content, sizeBytes, blocks }), part: null }
  if (lines === undefined || blocks === null) return null
  const { offset, bytes, lengths, ...part } = blocksOfLines(blocks, lines.from, lines.to)
  const [stored] = await tx<{ content: Uint8Array }[]>`
    select substring(content from ${offset + 1} for ${bytes}) as content from heddle.archive_contents
    where project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid) and hash = ${hash}`
  return stored === undefined ? null : { ...entry, content: await unpackBlocks(stored.content, lengths), part }
}

/** Recalls of one entry that were not counted yet. */
export interface Accesses {
  readonly id: string
  readonly count: number
  readonly lastAtMs: number
}

/** Counts recalls. Entries are locked in the order of their ids, so that two writers never wait in a circle. */
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
