import type { Tx } from '../connection/connection.js'
import { lineageIds } from '../forks/lineage.js'
import type { ContentBlocks } from '../schema/content-blocks.js'
import type { Columns } from '../schema/rows.js'
import { blocksOfLines, unpackBlocks, unpackContent } from './archive-content.js'

/** @returns the exact content; null where the project has no content with this hash */
export async function readArchiveContent(tx: Tx, hash: Uint8Array): Promise<string | null> {
  const [row] = await tx<Columns<'archiveContents', 'content' | 'sizeBytes' | 'blocks'>[]>`
    select content, size_bytes, blocks from heddle.archive_contents
    where project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid) and hash = ${hash}`
  return row === undefined ? null : await unpackContent(row)
}

interface ArchivedPlace {
  readonly threadId: string
  readonly messageId: string
  /** Such as `tool-2`. Default: the message as a whole. */
  readonly location?: string
}

export interface ArchivedContent extends Columns<'archive', 'id' | 'contentType' | 'summary' | 'filePaths'> {
  /** Null where it is the text of the message, which is read there. */
  readonly content: string | null
  /** Set where `content` is only the part that holds the requested lines; null where it is the whole. */
  readonly part: { readonly linesBefore: number; readonly linesTotal: number } | null
}

/**
 * Loads an archived message, or the call at a location in it, for a recall; null where it is not archived.
 *
 * @param lines the requested lines, counted from 1: of a long content only the blocks that hold them are read
 */
export async function readArchived(
  tx: Tx,
  { threadId, messageId, location = '', lines }: ArchivedPlace & { lines?: { from: number; to: number } },
): Promise<ArchivedContent | null> {
  const isWhole = lines === undefined
  const [row] = await tx<
    (Omit<ArchivedContent, 'content' | 'part'> &
      Columns<'archive', 'contentHash'> & {
        content: Uint8Array | null
        sizeBytes: number | null
        blocks: ContentBlocks | null
      })[]
  >`
    select
      entry.id, entry.content_type, entry.summary, to_json(entry.file_paths) as file_paths, entry.content_hash,
      stored.content, stored.size_bytes, stored.blocks
    from heddle.archive as entry
    left join lateral (
      select case when ${isWhole} or blocks is null then content end as content, size_bytes, blocks
      from heddle.archive_contents
      where archive_contents.project_id = entry.project_id and archive_contents.hash = entry.content_hash
      offset 0) as stored on true
    where entry.thread_id = any(${lineageIds(tx, threadId)}) and entry.message_id = ${messageId} and entry.location = ${location}
    limit 1`
  if (row === undefined) return null
  const { id, contentType, summary, filePaths, contentHash, content, sizeBytes, blocks } = row
  const entry = { id, contentType, summary, filePaths }
  if (contentHash === null) return { ...entry, content: null, part: null }
  // Its content was removed meanwhile.
  if (sizeBytes === null) return null
  if (content !== null) return { ...entry, content: await unpackContent({ content, sizeBytes, blocks }), part: null }
  if (lines === undefined || blocks === null) return null
  const { offset, bytes, lengths, ...part } = blocksOfLines(blocks, lines.from, lines.to)
  const [stored] = await tx<{ content: Uint8Array }[]>`
    select substring(content from ${offset + 1} for ${bytes}) as content from heddle.archive_contents
    where project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid) and hash = ${contentHash}`
  return stored === undefined ? null : { ...entry, content: await unpackBlocks(stored.content, lengths), part }
}
