import { shareForThread, type ThreadShare } from '@heddle/core'
import { type ItemRow, loadAgentItems, loadThreadItems, type Tx } from '@heddle/store'

/** What the items of a context are chosen from. */
export interface LoadedItems {
  /** All of the agent's: tools of one name are told apart by their servers. */
  readonly items: readonly ItemRow[]
  readonly share: ThreadShare<ItemRow>
}

/** @returns null where the agent has no items */
export async function loadItems(
  tx: Tx,
  { threadId, agentId }: { readonly threadId: string; readonly agentId: string },
): Promise<LoadedItems | null> {
  const [items, held] = await Promise.all([loadAgentItems(tx, { agentId }), loadThreadItems(tx, { threadId })])
  return items.length === 0 ? null : { items, share: shareForThread(items, held) }
}
