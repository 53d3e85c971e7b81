import { diskFree, diskFull, FREE_BYTES_MIN } from '@heddle/embedded'
import { type Check, failedBy, passed, warned } from './check.js'

/** A day of work, and what Postgres needs to tidy up after itself. */
const FREE_BYTES_WARNED = 512 * 1_024 * 1_024

/** Room on the disk of the data folder; nothing where the system does not say, as for a folder that is not there yet. */
export async function diskChecks(dataDir: string): Promise<Check[]> {
  const freeBytes = await diskFree(dataDir)
  if (freeBytes === null) return []
  const free = `${Math.floor(freeBytes / 1_048_576)} MB free for ${dataDir}`
  if (freeBytes < FREE_BYTES_MIN) return [failedBy('disk', diskFull(dataDir))]
  if (freeBytes >= FREE_BYTES_WARNED) return [passed('disk', free)]
  return [
    warned('disk', free, 'Make room on that disk: when it is full, appends are refused until there is room again.'),
  ]
}
