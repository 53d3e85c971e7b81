import type { PostingRuns } from '../posting-runs.js'

export interface ScoredTerm {
  readonly term: string
  readonly lists: readonly Uint8Array[]
  readonly postings: PostingRuns
  /** Its weight in the query. */
  readonly rarity: number
  /** Its score in a passage, by the measure of the passage. */
  readonly scoreOf: Float64Array
}

/** Postings of one term in one thread: `to` exclusive. */
export interface TermRun {
  readonly of: ScoredTerm
  readonly from: number
  readonly to: number
}
