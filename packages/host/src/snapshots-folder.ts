import { join } from 'node:path'
import type { Config } from '@heddle/runtime'

/** Where the files of snapshots lie: beside the other data of this installation (docs/snapshots.md). */
export function snapshotsFolderOf({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'sessions')
}
