import { statfs } from 'node:fs/promises'
import { diskFull } from './data-folder.js'

/** One file of Postgres's log of writes: where it cannot be made, the server ends. */
export const FREE_BYTES_MIN = 16 * 1_024 * 1_024

/** Bytes that this user may still write on the disk of a folder; null where the system does not say. */
export async function diskFree(folder: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize
  } catch {
    return null
  }
}

/** @throws RetryableError `SERVICE_UNAVAILABLE` where the disk of a data folder is full, or is about to be */
export async function assertDiskSpace(dataDir: string): Promise<void> {
  const freeBytes = await diskFree(dataDir)
  if (freeBytes !== null && freeBytes < FREE_BYTES_MIN) throw diskFull(dataDir)
}
