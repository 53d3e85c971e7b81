/** A long content's blocks in their order. */
export interface ContentBlocks {
  /** Bytes of each, compressed. */
  readonly lengths: readonly number[]
  /** Line feeds in each. */
  readonly newlines: readonly number[]
  /** Whether the content ends in something else than a line feed. */
  readonly isOpen: boolean
}
