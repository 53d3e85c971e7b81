import type { Dirent, Stats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PermanentError } from '@heddle/contracts'
import { fileError } from '../read-file.js'

/** Most files of the followed folders: each is examined at every pass. */
export const FILES_MAX = 10_000

/** Agents write their sessions as JSON lines, and beside them other files. */
const SESSION = /\.jsonl$/i

/** Compared by each pass: a file has changed if one of them did. */
export interface FileStamp {
  readonly size: number
  readonly modifiedMs: number
  /** Identifies the file whatever its name. */
  readonly inode: string
}

export interface FoundFile {
  readonly path: string
  readonly stamp: FileStamp
  readonly bornMs: number
}

/** A subfolder whose files are unknown now. */
export interface UnreadableFolder {
  readonly path: string
  readonly error: unknown
}

export interface FoundSessions {
  /** The oldest first. */
  readonly files: readonly FoundFile[]
  readonly unreadable: readonly UnreadableFolder[]
}

/** The reads of the disk; tests refuse some of them. */
export interface FolderReads {
  readonly entries: (path: string) => Promise<Dirent[]>
  readonly stat: (path: string) => Promise<Stats>
}

const fromDisk: FolderReads = { entries: (path) => readdir(path, { withFileTypes: true }), stat: (path) => stat(path) }

/** @throws PermanentError `NOT_FOUND`, `FORBIDDEN` or `VALIDATION_ERROR` for something that is no readable folder */
export async function checkFolder(path: string): Promise<void> {
  const details = { field: 'folder', received: path }
  try {
    await readdir(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR')
      throw new PermanentError('VALIDATION_ERROR', `folder: ${path} is a file`, {
        ...details,
        hint: 'Name the folder in which the agent writes its sessions, or omit --watch.',
      })
    throw fileError(path, error, details)
  }
}

/**
 * The sessions in some folders and their subfolders. Files and folders that vanish meanwhile are left out.
 *
 * @throws PermanentError `PAYLOAD_TOO_LARGE` for more than {@link FILES_MAX}
 */
export async function findSessions(folders: readonly string[], reads = fromDisk): Promise<FoundSessions> {
  const files: FoundFile[] = []
  const unreadable: UnreadableFolder[] = []
  for (const folder of folders) {
    for await (const file of sessionsIn(folder, reads, unreadable)) {
      files.push(file)
      if (files.length > FILES_MAX) throw tooMany(folder)
    }
  }
  files.sort((left, right) => left.bornMs - right.bornMs || (left.path < right.path ? -1 : 1))
  return { files, unreadable }
}

/** Folder by folder, so that one that cannot be read leaves out no other. */
async function* sessionsIn(
  folder: string,
  reads: FolderReads,
  unreadable: UnreadableFolder[],
): AsyncGenerator<FoundFile> {
  const waiting = [folder]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    try {
      for (const entry of await reads.entries(path)) {
        const file = entry.isFile() && SESSION.test(entry.name) ? await fileAt(join(path, entry.name), reads) : null
        if (file !== null) yield file
        if (entry.isDirectory()) waiting.push(join(path, entry.name))
      }
    } catch (error) {
      if (!isGone(error)) unreadable.push({ path, error: fileError(path, error, { field: 'folder', received: path }) })
    }
  }
}

/** A folder may be readable while its files are not. */
async function fileAt(path: string, { stat }: FolderReads): Promise<FoundFile | null> {
  try {
    const { size, mtimeMs, birthtimeMs, dev, ino } = await stat(path)
    return { path, bornMs: birthtimeMs, stamp: { size, modifiedMs: mtimeMs, inode: `${dev}:${ino}` } }
  } catch (error) {
    if (isGone(error)) return null
    throw error
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

function tooMany(folder: string): PermanentError {
  return new PermanentError('PAYLOAD_TOO_LARGE', `folder: holds more than ${FILES_MAX} sessions`, {
    field: 'folder',
    received: folder,
    hint: 'Follow the folder of one project.',
  })
}
