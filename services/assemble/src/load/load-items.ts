import type { Scope } from '@heddle/contracts'
import { itemsInScope, shareForThread, type ThreadShare } from '@heddle/core'
import { type ItemRow, loadAgentItems, loadThreadItems, type Tx } from '@heddle/store'

/** What the items of a context are chosen from. */
export interface LoadedItems {
  /** All of the agent's: tools of one name are told apart by their servers. */
  readonly items: readonly ItemRow[]
  readonly share: ThreadShare<ItemRow>
  /** How many of them the request's scope keeps out. */
  readonly outsideScope: number
}

/**
 * @returns null where the agent has no items
 * @throws PermanentError `NOT_FOUND` where the scope names one that the agent has not
 */
export async function loadItems(
  tx: Tx,
  { threadId, agentId }: { readonly threadId: string; readonly agentId: string },
  scope?: Scope,
): Promise<LoadedItems | null> {
  const [items, held] = await Promise.all([loadAgentItems(tx, { agentId }), loadThreadItems(tx, { threadId })])
  const inScope = itemsInScope(items, scope?.items)
  if (items.length === 0) return null
  const share = shareForThread(inScope, held)
  if (inScope.length === items.length) return { items, share, outsideScope: 0 }
  const whole = shareForThread(items, held)
  const sizeOf = ({ included, candidates }: ThreadShare<ItemRow>) => included.length + candidates.length
  return { items, share, outsideScope: sizeOf(whole) - sizeOf(share) }
}
