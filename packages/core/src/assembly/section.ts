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
  | 'history'
  | 'selected'
  | 'memories'
  | 'status'
  | 'message'

export interface FixedSection {
  readonly name: Exclude<SectionName, 'history'>
  readonly messages: readonly NeutralMessage[]
  readonly reason: string
  /** The items that the messages are of, one each. */
  readonly items?: readonly IncludedItem[]
  readonly tools?: readonly PlacedTool[]
  /** The memories that the messages are of, one each. */
  readonly memories?: readonly Memory[]
  /** Left out where the history would not fit beside it. */
  readonly isOptional?: true
  /** Whether its end was cut off to fit its allocation. */
  readonly isCut?: true
}
