import type { BlockLine } from '../blocks/index.js'
import type { NeutralMessage } from '../formats/neutral-message.js'
import type { IncludedItem } from '../items/index.js'
import type { Memory } from '../memories/index.js'
import type { PlacedTool } from './tools.js'

export type SectionName =
  | 'system-prompt'
  | 'docs'
  | 'rules'
  | 'references'
  | 'tools'
  | 'blocks'
  | 'history'
  | 'block-changes'
  | 'selected'
  | 'memories'
  | 'status'
  | 'message'

export interface FixedSection {
  readonly name: Exclude<SectionName, 'history'>
  readonly messages: readonly NeutralMessage[]
  readonly reason: string
  /** The items of the messages, one each. */
  readonly items?: readonly IncludedItem[]
  readonly tools?: readonly PlacedTool[]
  /** The memories of the messages, one each. */
  readonly memories?: readonly Memory[]
  /** The memory blocks of the messages, one each. */
  readonly blocks?: readonly BlockLine[]
  /** Dropped if the history would not fit beside it. */
  readonly isOptional?: true
  /** Whether its end was cut to fit its allocation. */
  readonly isCut?: true
}
