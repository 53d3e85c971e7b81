/** The changes of some compactions, for logs and metrics. */
export interface PrunedCounts {
  readonly compactions: number
  /** Messages whose text, or inputs of whose calls, became a line. */
  readonly condensed: number
  /** Messages of which a line is left because their calls stay. */
  readonly stubbed: number
  readonly removed: number
  /** Tokens by which contexts became shorter. A summary that is not written yet counts with its maximum length. */
  readonly tokensSaved: number
}
