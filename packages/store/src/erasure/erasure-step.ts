import type { Tx } from '../connection/connection.js'

/** The target of an erasure: a thread with its agent, an agent, or a project. */
export interface ErasedThing {
  readonly projectId: string
  readonly targetId: string
  /** The agent of a thread; null for other targets, and if the thread was never created. */
  readonly agentId: string | null
}

/** Rows by kind. */
export type Removed = Readonly<Record<string, number | undefined>>

/** The rows that one step removed, and whether nothing is left. */
export interface ErasureStep {
  readonly removed: Removed
  readonly isDone: boolean
}

/** Removes some rows of one kind. @returns their number; zero if none is left */
export type Taker = (tx: Tx, thing: ErasedThing) => Promise<Removed>

/** Rows that one step removes, in a fraction of a second. */
export const ROWS_PER_STEP = 1_000
