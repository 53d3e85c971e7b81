import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type SnapshotFile, slugOf, snapshotText } from '@heddle/core'

/*
 * Files of snapshots lie in `<project>.<id>/<agent>.<id>/<file name>` below one folder. The rows say which there ought to
 * be: the name of a file stands in its row before anything is written, so what is left of a worker that died can be told
 * from what another one is just writing.
 */

/** Whose snapshots a folder holds; ids are UUIDs, and names become slugs: neither can lead out of the folder. */
export interface SnapshotPlace {
  readonly folder: string
  readonly project: { readonly id: string; readonly name: string }
  readonly agent: { readonly id: string; readonly name: string }
}

/** Where a snapshot's file is. @throws Error for a file name with a folder in it */
export function snapshotPath({ folder, project, agent }: SnapshotPlace, fileName: string): string {
  if (!/^[\w-]+\.json$/.test(fileName)) throw new Error('a snapshot has a file name that is none')
  return join(folder, folderName(project), folderName(agent), fileName)
}

function folderName({ id, name }: { id: string; name: string }): string {
  return `${slugOf(name, 'unnamed')}.${id}`
}

/** Pieces of text are gathered to this many characters before they are written. */
const CHUNK_CHARACTERS = 1_000_000

/**
 * Writes a snapshot's file: under another name first, then onto the disk, then under its own. Whoever dies on the way
 * leaves no file of that name, or all of it.
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

/** A name is on the disk only when its folder is. */
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
