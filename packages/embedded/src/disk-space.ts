import { statfs } from 'node:fs/promises'
import { diskFull } from './data-folder.js'

/** Size of one file of Postgres's write-ahead log: if it cannot be created, the server stops. */
export const FREE_BYTES_MIN = 16 * 1_024 * 1_024

/** Bytes that this user may still write on the disk of a folder; null if the system does not report it. */
export async function diskFree(folder: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize
  } catch {
    return null
  }
}

/** @throws RetryableError `SERVICE_UNAVAILABLE` if the disk of a data folder is full or nearly so */
export async function assertDiskSpace(dataDir: string): Promise<void> {
  const freeBytes = await diskFree(dataDir)
  if (freeBytes !== null && freeBytes < FREE_BYTES_MIN) throw diskFull(dataDir)
}
