import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCodeOf } from './files.js'

export function clusterDirOf(dataDir: string): string {
  return join(dataDir, 'postgres')
}

/**
 * Whether a data folder holds a database. A path that cannot be read counts as one, so that opening it reports the error.
 */
export async function holdsCluster(dataDir: string): Promise<boolean> {
  try {
    await lstat(clusterDirOf(dataDir))
    return true
  } catch (error) {
    return errorCodeOf(error) !== 'ENOENT'
  }
}
