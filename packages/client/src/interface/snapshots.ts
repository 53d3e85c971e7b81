import type { PageOptions } from './pages.js'

export interface RestoreOptions {
  /** How long to wait until all is stored, in milliseconds. Default 120,000. */
  readonly deadlineMs?: number
  readonly signal?: AbortSignal
}

export interface SaveOptions {
  /** How long to wait for it, in milliseconds. Default 120,000: a model writes its summary. */
  readonly deadlineMs?: number
  readonly signal?: AbortSignal
  /** Asked for again under the same key, it is the same snapshot, or fails as it did, unless that was for lack of time. */
  readonly idempotencyKey?: string | undefined
}

/** Default 50 snapshots (docs/snapshots.md). */
export type SnapshotListOptions = PageOptions
