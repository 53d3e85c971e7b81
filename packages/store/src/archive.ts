import { createHash, randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, brotliDecompressSync, constants } from 'node:zlib'
import { asArray } from './arrays.js'
import type { Tx } from './connection.js'
import { decodeText, encodeText, toStorable } from './text.js'
import { formatTime } from './times.js'

const compress = promisify(brotliCompress)
const decompress = promisify(brotliDecompress)

/** Where compressing still takes less time than writing: higher qualities save a few percent and cost many times as much. */
const BROTLI_QUALITY = 5
/** A message's longest content, 4,000,000 characters of at most 4 bytes, with room for calls as JSON. */
const CONTENT_BYTES_MAX = 64 * 1024 * 1024

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
      .map(async ([hash, content]) => ({
        hash,
        size_bytes: content.length,
        content: (await compress(content, { params: brotliParams(content.length) })).toString('base64'),
      })),
  )
  if (added.length === 0) return
  await tx`
    insert into heddle.archive_contents (hash, content, size_bytes)
    select decode(hash, 'hex'), decode(content, 'base64'), size_bytes
    from json_to_recordset(${JSON.stringify(added)}::text::json) as content (hash text, content text, size_bytes integer)
    order by hash
    -- One that another transaction has just added is held as the others are.
    on conflict (project_id, hash) do update set size_bytes = excluded.size_bytes`
}

function brotliParams(sizeBytes: number): Record<number, number> {
  return {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: sizeBytes,
  }
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
  const [row] = await tx<{ content: Uint8Array; sizeBytes: number }[]>`
    select content, size_bytes from heddle.archive_contents
    where project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid) and hash = ${hash}`
  return row === undefined ? null : await unpack(row)
}

/** An entry together with its content. */
export interface ArchivedContent {
  readonly id: string
  readonly contentType: string
  readonly summary: string
  readonly filePaths: readonly string[]
  readonly content: string
}

/** Reads what a recall shows of an archived message, in one query; null where it is not archived. */
export async function readArchived(
  tx: Tx,
  { threadId, messageId }: { threadId: string; messageId: string },
): Promise<ArchivedContent | null> {
  const [row] = await tx<(Omit<ArchivedContent, 'content'> & { content: Uint8Array; sizeBytes: number })[]>`
    select
      entry.id, entry.content_type, entry.summary, to_json(entry.file_paths) as file_paths, stored.content,
      stored.size_bytes
    from heddle.archive as entry
    cross join lateral (
      select content, size_bytes from heddle.archive_contents
      where archive_contents.project_id = entry.project_id and archive_contents.hash = entry.content_hash
      offset 0) as stored
    where entry.thread_id = ${threadId} and entry.message_id = ${messageId} and entry.location = ''`
  if (row === undefined) return null
  const { id, contentType, summary, filePaths } = row
  return { id, contentType, summary, filePaths, content: await unpack(row) }
}

/** Bounds of the buffer that is decompressed into: the default, 16 KB, makes a megabyte take three times as long. */
const CHUNK_BYTES_MIN = 1_024
const CHUNK_BYTES_MAX = 4 * 1024 * 1024

async function unpack({ content, sizeBytes }: { content: Uint8Array; sizeBytes: number }): Promise<string> {
  const chunkSize = Math.min(Math.max(sizeBytes, CHUNK_BYTES_MIN), CHUNK_BYTES_MAX)
  const options = { maxOutputLength: CONTENT_BYTES_MAX, chunkSize }
  const isSmall = sizeBytes <= BYTES_DECOMPRESSED_AT_ONCE
  const bytes = isSmall ? brotliDecompressSync(content, options) : await decompress(content, options)
  const parts: string[] = []
  for (let from = 0; from < bytes.length; ) {
    if (from > 0) await setImmediate()
    const to = characterStart(bytes, from + BYTES_DECODED_AT_ONCE)
    parts.push(decodeText(bytes.subarray(from, to)))
    from = to
  }
  return parts.join('')
}

/** Up to here decompressing takes less time than handing it to another thread and back. */
const BYTES_DECOMPRESSED_AT_ONCE = 64 * 1024
/** Decoding more than that at once would hold up everybody else of the process: megabytes take tens of milliseconds. */
const BYTES_DECODED_AT_ONCE = 512 * 1024

/** The beginning of the character that the byte at a place belongs to. */
function characterStart(bytes: Uint8Array, place: number): number {
  if (place >= bytes.length) return bytes.length
  let at = place
  while (((bytes[at] ?? 0) & 0xc0) === 0x80) at--
  return at
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
