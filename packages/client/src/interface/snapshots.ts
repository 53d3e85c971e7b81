import type { PageOptions } from './pages.js'

export interface RestoreOptions {
  /** Timeout until everything is stored, in milliseconds. Default 120,000. */
  readonly deadlineMs?: number
  readonly signal?: AbortSignal
}

export interface SaveOptions {
  /** Timeout in milliseconds. Default 120,000, since a model writes the summary. */
  readonly deadlineMs?: number
  readonly signal?: AbortSignal
  /** A repeat with the same key is the same snapshot, or fails in the same way, except after a timeout. */
  readonly idempotencyKey?: string | undefined
}

/** Default: 50 snapshots (docs/snapshots.md). */
export type SnapshotListOptions = PageOptions
