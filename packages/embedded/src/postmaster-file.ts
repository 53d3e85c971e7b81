import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { readIfPresent } from './files.js'

/** What a running server writes about itself into `postmaster.pid`, and leaves there when it is killed. */
export interface PostmasterFile {
  /** Null where the file was cut off or is damaged. */
  pid: number | null
  ready: boolean
}

/** The file of a cluster, or null where there is none. */
export async function readPostmasterFile(clusterDir: string): Promise<PostmasterFile | null> {
  const lines = (await readIfPresent(join(clusterDir, 'postmaster.pid')))?.split('\n')
  if (lines === undefined) return null
  const pid = Number(lines[0])
  return { pid: Number.isInteger(pid) && pid > 0 ? pid : null, ready: lines[7]?.trim() === 'ready' }
}

/**
 * Says that the server that left this file is gone. Postgres looks for itself, but takes any program that has got its old pid
 * for a server, and a killed one that its parent has not waited for, and refuses to start. The file is kept, with the pid of
 * this process: Postgres takes its parent's for a stale one, and still checks the shared memory that is named below it. That
 * check keeps it from starting beside leftover processes of the old server.
 */
export async function markStale(clusterDir: string): Promise<void> {
  const path = join(clusterDir, 'postmaster.pid')
  const rest = (await readIfPresent(path))?.split('\n').slice(1) ?? []
  // Written in place, so that it stays the property of the user that Postgres runs as.
  const file = await open(path, 'r+')
  try {
    // Written over before it is cut: on a full disk it would stay empty otherwise.
    const { bytesWritten } = await file.write([String(process.pid), ...rest].join('\n'), 0)
    await file.truncate(bytesWritten)
  } finally {
    await file.close()
  }
}
