import type { Tx } from '../connection/connection.js'

/** What is being erased: a thread with its agent, an agent, or a project. */
export interface ErasedThing {
  readonly projectId: string
  readonly targetId: string
  /** The agent of a thread; null for others, and where the thread was never made. */
  readonly agentId: string | null
}

/** Rows by kind. */
export type Removed = Readonly<Record<string, number | undefined>>

/** Removes some rows of one kind, and says how many; all zero where none is left. */
export type Taker = (tx: Tx, thing: ErasedThing) => Promise<Removed>

/** Rows that one step removes: a fraction of a second, whatever they hold. */
export const ROWS_PER_STEP = 1_000
