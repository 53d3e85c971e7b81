import type { Scope } from '@heddle/contracts'
import { itemsInScope, shareForThread, type ThreadShare } from '@heddle/core'
import { type ItemRow, loadAgentItems, loadThreadItems, type Tx } from '@heddle/store'

/** Candidates for the items of a context. */
export interface LoadedItems {
  /** All items of the agent: tools with the same name are distinguished by server. */
  readonly items: readonly ItemRow[]
  readonly share: ThreadShare<ItemRow>
  /** Number of items that the request's scope excludes. */
  readonly outsideScope: number
}

/**
 * @returns null if the agent has no items
 * @throws PermanentError `NOT_FOUND` if the scope names an item that the agent does not have
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
