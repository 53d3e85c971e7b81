import { promisify } from 'node:util'
import { deflate, inflate } from 'node:zlib'
import { type SnapshotFile, threadsOfSnapshot, withoutThread } from '@heddle/core'
import { asArray } from './arrays.js'
import type { Tx } from './connection.js'
import { toStorable } from './text.js'

const compress = promisify(deflate)
const decompress = promisify(inflate)

/** The largest snapshot as JSON: a window of the largest number of messages that one reading takes. */
const SNAPSHOT_BYTES_MAX = 512 * 1024 * 1024

export interface NewSnapshot {
  readonly agentId: string
  readonly fileName: string
  readonly file: SnapshotFile
}

/**
 * Keeps a snapshot. Its threads are held until the commit; one that was erased since its messages were read is taken out.
 *
 * @returns the snapshot as it was kept; null where nothing is left of it
 */
export async function insertSnapshot(tx: Tx, { agentId, fileName, file }: NewSnapshot): Promise<SnapshotFile | null> {
  const threadIds = threadsOfSnapshot(file)
  const [, standing] = await Promise.all([
    tx`select from heddle.threads where id = any(${asArray(threadIds)}::uuid[]) order by id for key share`,
    tx<{ id: string }[]>`
      select id from heddle.threads where id = any(${asArray(threadIds)}::uuid[]) and agent_id = ${agentId}`,
  ])
  const left = new Set(standing.map(({ id }) => id))
  const kept = threadIds.filter((id) => !left.has(id)).reduce(withoutThread, file)
  if (kept.messages.length === 0) return null
  await tx`
    insert into heddle.snapshots (
      id, agent_id, created_at, description, summary, message_count, window_start, window_end, file_name, content,
      thread_ids, needs_summary)
    values (
      ${kept.session_id}, ${agentId}, ${Date.parse(kept.timestamp)},
      ${kept.description === null ? null : toStorable(kept.description)}, ${toStorable(kept.summary)},
      ${kept.message_count}, ${kept.window_start === null ? null : Date.parse(kept.window_start)},
      ${Date.parse(kept.window_end)}, ${toStorable(fileName)}, ${await packSnapshot(kept)},
      ${asArray(left)}::uuid[], ${kept !== file})`
  return kept
}

/** @returns null where the project has no such snapshot */
export async function loadSnapshot(tx: Tx, { id }: { id: string }): Promise<SnapshotFile | null> {
  const [row] = await tx<{ content: Uint8Array }[]>`select content from heddle.snapshots where id = ${id}`
  return row === undefined ? null : await unpackSnapshot(row.content)
}

/** A snapshot as it lies in the table: compressed JSON. */
export async function packSnapshot(file: SnapshotFile): Promise<Uint8Array> {
  return await compress(JSON.stringify(file))
}

/** The reverse of {@link packSnapshot}. @throws RangeError for one that would not fit into memory */
export async function unpackSnapshot(content: Uint8Array): Promise<SnapshotFile> {
  return JSON.parse((await decompress(content, { maxOutputLength: SNAPSHOT_BYTES_MAX })).toString()) as SnapshotFile
}
