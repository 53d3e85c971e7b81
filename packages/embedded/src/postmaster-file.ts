import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { readIfPresent } from './files.js'

/** Content of `postmaster.pid`, which a running server writes, and which remains if it is killed. */
export interface PostmasterFile {
  /** Null if the file is incomplete or damaged. */
  pid: number | null
  ready: boolean
}

/** The file of a cluster, or null without one. */
export async function readPostmasterFile(clusterDir: string): Promise<PostmasterFile | null> {
  const lines = (await readIfPresent(join(clusterDir, 'postmaster.pid')))?.split('\n')
  if (lines === undefined) return null
  const pid = Number(lines[0])
  return { pid: Number.isInteger(pid) && pid > 0 ? pid : null, ready: lines[7]?.trim() === 'ready' }
}

/**
 * Marks the file of a server that has ended as stale. Postgres checks the pid itself, but refuses to start if another program
 * reuses the pid, or if the killed server is still a zombie. The file is kept, with the pid of this process: Postgres treats
 * its parent's pid as stale, and still checks the shared memory that is named in the file. That check prevents a start beside
 * remaining processes of the old server.
 */
export async function markStale(clusterDir: string): Promise<void> {
  const path = join(clusterDir, 'postmaster.pid')
  const rest = (await readIfPresent(path))?.split('\n').slice(1) ?? []
  // Written in place, so that its owner stays the user that Postgres runs as.
  const file = await open(path, 'r+')
  try {
    // Overwritten before it is truncated: otherwise it would stay empty on a full disk.
    const { bytesWritten } = await file.write([String(process.pid), ...rest].join('\n'), 0)
    await file.truncate(bytesWritten)
  } finally {
    await file.close()
  }
}
