import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type SnapshotFile, slugOf, snapshotText } from '@heddle/core'

/*
 * Snapshot files are stored as `<project>.<id>/<agent>.<id>/<file name>` below one folder. The name of a file is in its row
 * before anything is written, so the remains of a worker that died can be distinguished from a file that is being written.
 */

/** The folder of an agent's snapshots. Ids are UUIDs and names become slugs: neither can lead out of the folder. */
export interface SnapshotPlace {
  readonly folder: string
  readonly project: { readonly id: string; readonly name: string }
  readonly agent: { readonly id: string; readonly name: string }
}

/** The path of a snapshot's file. @throws Error for a file name that contains a folder */
export function snapshotPath({ folder, project, agent }: SnapshotPlace, fileName: string): string {
  if (!/^[\w-]+\.json$/.test(fileName)) throw new Error('a snapshot has an invalid file name')
  return join(folder, folderName(project), folderName(agent), fileName)
}

function folderName({ id, name }: { id: string; name: string }): string {
  return `${slugOf(name, 'unnamed')}.${id}`
}

/** Text is buffered up to this many characters before it is written. */
const CHUNK_CHARACTERS = 1_000_000

/**
 * Writes a snapshot's file: to a temporary name first, then fsync, then rename. After a crash the file is complete or missing.
 */
export async function writeSnapshotFile(path: string, file: SnapshotFile): Promise<void> {
  const folder = join(path, '..')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  try {
    const handle = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
    try {
      let chunk = ''
      for (const piece of snapshotText(file)) {
        chunk += piece
        if (chunk.length < CHUNK_CHARACTERS) continue
        await handle.writeFile(chunk)
        chunk = ''
      }
      await handle.writeFile(chunk)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, path)
    await syncFolder(folder)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** A rename is durable only after an fsync of the folder. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export async function removeSnapshotFile(path: string): Promise<void> {
  await rm(path, { force: true })
}
