import type { ItemType } from '@heddle/contracts'

/** An item that a context showed, with what it said then. */
export interface ShownItem {
  readonly itemId: string
  readonly type: ItemType
  readonly name: string
  readonly serverName: string
  /** Of rules and references; its beginning may do. */
  readonly text: string
}
