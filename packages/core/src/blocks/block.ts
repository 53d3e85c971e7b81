import type { BlockScope } from '@heddle/contracts'

/** The content of a memory block in one version. */
export interface BlockContent {
  readonly value: string
  readonly description: string
  /** Most characters of the value. */
  readonly charactersMax: number
  readonly readOnly: boolean
}

export interface BlockVersion extends BlockContent {
  readonly version: number
  /** The version took the block out of contexts. */
  readonly removed: boolean
}

/** A block of a context: as of the last compaction, from which the stable prefix follows, and as of now. */
export interface ContextBlock {
  readonly scope: BlockScope
  readonly label: string
  /** Null for a block that was made since. */
  readonly base: BlockVersion | null
  readonly current: BlockVersion
}
