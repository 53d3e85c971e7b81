import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { readIfPresent } from './files.js'

/** What a running server writes about itself into `postmaster.pid`, and leaves there when it is killed. */
export interface PostmasterFile {
  pid: number
  folder: string
  ready: boolean
}

export async function readPostmasterFile(clusterDir: string): Promise<PostmasterFile | null> {
  const lines = (await readIfPresent(join(clusterDir, 'postmaster.pid')))?.split('\n')
  const pid = Number(lines?.[0])
  if (lines === undefined || !Number.isInteger(pid) || pid <= 0) return null
  return { pid, folder: lines[1] ?? '', ready: lines[7]?.trim() === 'ready' }
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
    await file.truncate(0)
    await file.write([String(process.pid), ...rest].join('\n'), 0)
  } finally {
    await file.close()
  }
}
