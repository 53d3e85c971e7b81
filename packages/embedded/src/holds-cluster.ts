import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCodeOf } from './files.js'

/** Where the database lies in a data folder. */
export function clusterDirOf(dataDir: string): string {
  return join(dataDir, 'postgres')
}

/**
 * Whether a data folder holds a database. What cannot be looked at counts as one: whoever opens it says what is wrong with
 * it.
 */
export async function holdsCluster(dataDir: string): Promise<boolean> {
  try {
    await lstat(clusterDirOf(dataDir))
    return true
  } catch (error) {
    return errorCodeOf(error) !== 'ENOENT'
  }
}
