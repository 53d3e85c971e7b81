import { constants } from 'node:fs'
import { open, readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { messageCountIn, summaryIn } from '@heddle/core'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'
import { toStorable } from '../sql/text.js'
import type { Store } from '../store.js'
import { writeSnapshotFile } from './snapshot-files.js'
import { unpackSnapshot } from './snapshots.js'

export interface SweptFiles {
  /** Files without a row, or that a worker left incomplete. */
  readonly removed: number
  /** Files that still contained erased messages, or lacked the summary that was made since. */
  readonly rewritten: number
}

/**
 * Makes the files below a folder agree with their rows: erased messages are removed from files, a summary that was made since is
 * added, and files without a row are deleted, unless nothing is known of their project: it may be in another database. A file that
 * is being written stays: its row has the status `requested`.
 *
 * @param projectId only that project; default: all that have a folder
 */
export async function sweepSnapshotFiles(
  store: Store,
  { folder, projectId }: { folder: string; projectId?: string },
): Promise<SweptFiles> {
  const swept = { removed: 0, rewritten: 0 }
  for (const project of await namesIn(folder)) {
    const id = idIn(project)
    if (id === null || (projectId !== undefined && projectId !== id)) continue
    for (const agent of await namesIn(join(folder, project))) {
      const agentId = idIn(agent)
      if (agentId === null) continue
      const { removed, rewritten } = await sweepAgent(store, { projectId: id, agentId }, join(folder, project, agent))
      swept.removed += removed
      swept.rewritten += rewritten
      await removeIfEmpty(join(folder, project, agent))
    }
    await removeIfEmpty(join(folder, project))
  }
  return swept
}

/** Files whose rows one statement reads. */
const FILES_PER_STATEMENT = 1_000

async function sweepAgent(
  store: Store,
  { projectId, agentId }: { projectId: string; agentId: string },
  folder: string,
): Promise<SweptFiles> {
  let removed = 0
  let rewritten = 0
  const names = await namesIn(folder)
  for (let from = 0; from < names.length; from += FILES_PER_STATEMENT) {
    const some = names.slice(from, from + FILES_PER_STATEMENT)
    const rows = await rowsOf(store, { projectId, agentId, fileNames: some.map(finalName) })
    if (rows === null) break
    for (const name of some) {
      const row = rows.get(finalName(name))
      const isKept =
        row !== undefined && (row.status === 'requested' || (row.status === 'saved' && name === row.fileName))
      if (!isKept) {
        await rm(join(folder, name), { force: true })
        removed++
      } else if (row.status === 'saved' && row.erasedCount > 0) {
        if (await rewriteIfChanged(store, projectId, row, join(folder, name))) rewritten++
      }
    }
  }
  return { removed, rewritten }
}

/** The final name of an incomplete file. */
function finalName(name: string): string {
  return name.replace(/\.[0-9a-f]{12}\.tmp$/, '')
}

type FileRow = Columns<'snapshots', 'id' | 'fileName' | 'status' | 'summary' | 'erasedCount' | 'messageCount'>

/** Null if the project may be in a database that this process does not know. */
async function rowsOf(
  store: Store,
  { projectId, agentId, fileNames }: { projectId: string; agentId: string; fileNames: readonly string[] },
): Promise<Map<string, FileRow> | null> {
  const known = fileNames.filter((name) => /^[\w-]+\.json$/.test(name))
  return await store.inProject(projectId, async (tx) => {
    const [project] = await tx<{ isKnown: boolean }[]>`
      select exists (select from heddle.projects where project_id = ${projectId})
        or exists (select from heddle.tombstones where project_id = ${projectId}) as is_known`
    if (project?.isKnown !== true) return null
    const rows = await tx<FileRow[]>`
      select id, file_name, status, summary, erased_count, message_count from heddle.snapshots
      where agent_id = ${agentId} and stored_in = 'files' and file_name = any(${asArray(known)}::text[])`
    return new Map(rows.map((row) => [row.fileName, row]))
  })
}

/** Enough for all fields before the messages. */
const HEAD_BYTES = 65_536

async function rewriteIfChanged(store: Store, projectId: string, row: FileRow, path: string): Promise<boolean> {
  const head = await headOf(path)
  const summary = summaryIn(head)
  const isSameSummary = summary === null || toStorable(summary) === row.summary
  if (messageCountIn(head) === row.messageCount && isSameSummary) return false
  return await store.inProject(projectId, async (tx) => {
    // Locked, so that the next erasure waits until this file is written.
    const [held] = await tx<{ content: Uint8Array | null }[]>`
      select content from heddle.snapshots where id = ${row.id} for update`
    if (held?.content == null) return false
    await writeSnapshotFile(path, await unpackSnapshot(held.content))
    return true
  })
}

async function headOf(path: string): Promise<string> {
  const handle = await open(path, constants.O_RDONLY)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw error
  }
}

async function removeIfEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch(() => undefined)
}

/** The id at the end of a folder's name. */
function idIn(name: string): string | null {
  return /\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(name)?.[1] ?? null
}
