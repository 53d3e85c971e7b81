import type { ItemType } from '@heddle/contracts'

/** An item that a context showed, with its text at that time. */
export interface ShownItem {
  readonly itemId: string
  readonly type: ItemType
  readonly name: string
  readonly serverName: string
  /** Text of a rule or a reference; possibly only its beginning. */
  readonly text: string
}
