/** A long content's blocks in their order. */
export interface ContentBlocks {
  /** Compressed bytes of each block. */
  readonly lengths: readonly number[]
  /** Line feeds in each block. */
  readonly newlines: readonly number[]
  /** Whether the content does not end with a line feed. */
  readonly isOpen: boolean
}
