import type { Tx } from '../../connection/connection.js'
import type { Removed } from '../erasure-step.js'

/** The messages of an erasure. */
export interface ErasedMessages {
  readonly projectId: string
  readonly threadId: string
  readonly agentId: string | null
  /** When the erasure began, in milliseconds since 1970. */
  readonly begunAtMs: number
  readonly ids: ReadonlySet<string>
  readonly seqs: ReadonlySet<number>
  readonly fromSeq: number
  /** The last snapshot that was searched, by id; null before the first one. */
  readonly snapshotsTo: string | null
}

/** Removes what was derived from the messages. @returns the rows of each kind; zero once nothing is left */
export type MessageTaker = (tx: Tx, erased: ErasedMessages) => Promise<Removed>
