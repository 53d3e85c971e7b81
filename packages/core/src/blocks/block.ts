import type { BlockGrantMode, BlockScope } from '@heddle/contracts'

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
  /** The rights of the agent, if another one shares the block with it. */
  readonly mode?: BlockGrantMode
}

/** An agent that shares a block with another one. */
export interface BlockSharer {
  readonly name: string
  /** Another agent of this name and id has another time: one was erased, and its name used again. */
  readonly createdAtMs: number
}

/** A block of a context: as of the last compaction, from which the stable prefix follows, and as of now. */
export interface ContextBlock {
  readonly scope: BlockScope
  /** `coder/human` for a block that the agent `coder` shares. */
  readonly label: string
  /** The agent that shares it; absent for a block of the thread, its agent or the project. */
  readonly sharer?: BlockSharer
  /** Null for a block that was made since. */
  readonly base: BlockVersion | null
  readonly current: BlockVersion
}
