import { diskFree, diskFull, FREE_BYTES_MIN } from '@heddle/embedded'
import { type Check, failedBy, passed, warned } from './check.js'

/** Enough for a day of work and for Postgres to vacuum. */
const FREE_BYTES_WARNED = 512 * 1_024 * 1_024

/** Free space on the disk of the data folder; empty if the system does not report it, as for a missing folder. */
export async function diskChecks(dataDir: string): Promise<Check[]> {
  const freeBytes = await diskFree(dataDir)
  if (freeBytes === null) return []
  const free = `${Math.floor(freeBytes / 1_048_576)} MB free for ${dataDir}`
  if (freeBytes < FREE_BYTES_MIN) return [failedBy('disk', diskFull(dataDir))]
  if (freeBytes >= FREE_BYTES_WARNED) return [passed('disk', free)]
  return [warned('disk', free, 'Free space on that disk: while it is full, appends are refused.')]
}
