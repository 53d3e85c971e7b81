import type { PartialSettings } from '@heddle/contracts'
import type { Limiter } from '@heddle/runtime'
import type { SnapshotSummaryDeps } from './snapshot-summary.js'

export interface SaveSnapshotDeps extends SnapshotSummaryDeps {
  /** Settings of the file and the environment, under those of agents. */
  readonly settings: PartialSettings
  /** Folder of snapshot files; null if this process writes no files. */
  readonly snapshotsFolder: string | null
  /** Windows may be large, so this process saves one at a time. */
  readonly snapshotLimiter: Limiter
  readonly publishSaved: (projectId: string, snapshotId: string) => void
}
