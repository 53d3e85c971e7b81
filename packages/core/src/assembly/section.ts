import type { ReceiptEntry } from '@heddle/contracts'
import type { BlockLine } from '../blocks/index.js'
import type { NeutralMessage } from '../formats/neutral-message.js'
import type { IncludedItem } from '../items/index.js'
import type { Memory } from '../memories/index.js'
import type { PlacedTool } from './tools.js'

/** A line of the only message of a section, explained on a line of the receipt. */
export type SectionLine = Pick<ReceiptEntry, 'ledger' | 'fact' | 'reason'>

export type SectionName =
  | 'system-prompt'
  | 'docs'
  | 'rules'
  | 'references'
  | 'tools'
  | 'blocks'
  | 'facts'
  | 'ledger'
  | 'history'
  | 'block-changes'
  | 'fact-changes'
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
  /** The lines of its only message. */
  readonly lines?: readonly SectionLine[]
  /** Receipt lines for the parts that did not fit into it. */
  readonly leftOut?: readonly ReceiptEntry[]
  /** Notes of the receipt. */
  readonly notes?: readonly string[]
  /** Behind the history, whatever the place of its name: its text may differ at each request. */
  readonly isVolatile?: true
  /** Dropped if the history would not fit beside it. */
  readonly isOptional?: true
  /** Whether its end was cut to fit its allocation. */
  readonly isCut?: true
}
