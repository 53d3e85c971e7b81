import { join } from 'node:path'
import type { Config } from '@heddle/runtime'

/** The folder of snapshot files, in the data folder (docs/snapshots.md). */
export function snapshotsFolderOf({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'sessions')
}
