import type { ThreadItemEntry } from '@heddle/client/interface'
import { type ItemKey, nameSchema, notFound, PermanentError, parse } from '@heddle/contracts'
import { itemIdOf, shareForThread, threadIdOf } from '@heddle/core'
import { changeThreadItem, loadAgentItems, loadThread, loadThreadItems, type ThreadRow, type Tx } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'
import { findItem, readKey, toAgentItem } from './items.js'

/** The items of a thread, in the order in which contexts show them. @throws PermanentError `NOT_FOUND` */
export async function listThreadItems({ store, projectId }: EngineContext, thread: string): Promise<ThreadItemEntry[]> {
  return await store.inProject(projectId, async (tx) => {
    const { threadId, agentId } = await findThread(tx, projectId, thread)
    const [items, held] = await Promise.all([loadAgentItems(tx, { agentId }), loadThreadItems(tx, { threadId })])
    const { included } = shareForThread(items, held)
    return included.map(({ item, includeMode }) => {
      const { erased: _, ...shown } = toAgentItem(item)
      return { ...shown, includeMode: includeMode === 'always' ? 'always' : 'manual' }
    })
  })
}

/**
 * Adds an item to a thread explicitly, whatever its mode is.
 *
 * @returns false if the thread had it already
 * @throws PermanentError `NOT_FOUND` without the thread, or if its agent has no such item; `AMBIGUOUS_REFERENCE`;
 *   `VALIDATION_ERROR` if items were added to the thread, or removed, too many times
 */
export async function addThreadItem(parts: EngineContext, thread: string, key: ItemKey): Promise<boolean> {
  return await change(parts, thread, false, async (tx, { agentName }) => {
    const { itemId } = await findItem(tx, agentName, readKey(key))
    return itemId
  })
}

/**
 * Removes an item from a thread, whatever its mode is. One with the mode `agent` may still be selected for a request.
 *
 * @throws PermanentError `NOT_FOUND` without the thread, or if it does not have the item; `AMBIGUOUS_REFERENCE`
 */
export async function removeThreadItem(parts: EngineContext, thread: string, key: ItemKey): Promise<void> {
  const wanted = readKey(key)
  const removed = await change(parts, thread, true, async (tx, { agentName, agentId }) => {
    // Works for removed items, too: their name may be used again.
    if (wanted.type !== 'tool' || wanted.serverName !== undefined) return itemIdOf(agentId, wanted)
    return (await findItem(tx, agentName, wanted)).itemId
  })
  if (!removed) throw notFound(wanted.type, wanted.name, `see \`heddle items list --thread "${thread}"\``)
}

async function change(
  { store, projectId }: EngineContext,
  thread: string,
  removed: boolean,
  find: (tx: Tx, thread: ThreadRow) => Promise<string>,
): Promise<boolean> {
  return await store.inProject(projectId, async (tx) => {
    const found = await findThread(tx, projectId, thread)
    const itemId = await find(tx, found)
    const changed = await changeThreadItem(tx, { threadId: found.threadId, itemId, removed })
    if (changed === null) throw new PermanentError('NOT_FOUND', `thread "${thread}" was erased meanwhile`)
    return changed
  })
}

export async function findThread(tx: Tx, projectId: string, name: string): Promise<ThreadRow> {
  const thread = await loadThread(tx, { threadId: threadIdOf(projectId, parse(nameSchema, name, 'thread')) })
  if (!thread) throw notFound('thread', name, 'see `heddle threads list`')
  return thread
}
