import { limits, validationError } from '@heddle/contracts'
import type { ThreadItem } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { asArray } from '../sql/arrays.js'

/**
 * The items of a thread, including those that the agent no longer has, since their names may be used again. Their number is
 * limited when they are written: see {@link checkThreadItems}.
 */
export async function loadThreadItems(tx: Tx, { threadId }: { threadId: string }): Promise<ThreadItem[]> {
  return await tx<ThreadItem[]>`
    select item_id, include_mode
    from (
      select distinct on (item_id) item_id, include_mode, removed
      from heddle.thread_items
      where thread_id = ${threadId}
      order by item_id, version desc) as latest
    where not removed`
}

/**
 * Adds an item to a thread explicitly, or removes it. Adding an existing item changes nothing, so an item that was added at the
 * thread's start keeps its mode `always`.
 *
 * @returns whether anything changed; null without the thread
 * @throws PermanentError `VALIDATION_ERROR` if the thread had too many changes
 */
export async function changeThreadItem(
  tx: Tx,
  { threadId, itemId, removed }: { threadId: string; itemId: string; removed: boolean },
): Promise<boolean | null> {
  const [thread] = await tx`select from heddle.threads where id = ${threadId} for no key update`
  if (thread === undefined) return null
  const { count } = await tx`
    insert into heddle.thread_items (thread_id, item_id, version, include_mode, removed)
    select ${threadId}, ${itemId}, coalesce(latest.version, 0) + 1,
      case when ${removed} then coalesce(latest.include_mode, 'manual') else 'manual' end, ${removed}
    from (values (1)) as once
    left join lateral (
      select version, include_mode, removed from heddle.thread_items
      where thread_id = ${threadId} and item_id = ${itemId}
      order by version desc
      limit 1) as latest on true
    where coalesce(latest.removed, true) <> ${removed}`
  if (count === 1) await checkThreadItems(tx, threadId)
  return count === 1
}

/** Threads that {@link listThreadsWithout} reads: the newest of an agent, which may still be running. */
const THREADS_READ = 100
const THREADS_NAMED = 20

/**
 * Threads of an agent that began before some items existed, and to which these were never added. Items that were removed from a
 * thread explicitly do not count as missing.
 *
 * @returns the names of at most 20, the newest first, of the agent's newest 100 threads
 */
export async function listThreadsWithout(
  tx: Tx,
  { agentId, itemIds }: { agentId: string; itemIds: readonly string[] },
): Promise<string[]> {
  if (itemIds.length === 0) return []
  const rows = await tx<{ name: string }[]>`
    select thread.name
    from (
      select id, name, created_at from heddle.threads
      where agent_id = ${agentId}
      order by created_at desc
      limit ${THREADS_READ}) as thread
    where exists (
      select from unnest(${asArray(itemIds)}::uuid[]) as wanted (id)
      where not exists (
        select from heddle.thread_items as held where held.thread_id = thread.id and held.item_id = wanted.id))
    order by thread.created_at desc, thread.name
    limit ${THREADS_NAMED}`
  return rows.map(({ name }) => name)
}

/**
 * @param tx is rolled back if this throws
 * @throws PermanentError `VALIDATION_ERROR` if items were added to a thread, or removed, too many times
 */
export async function checkThreadItems(tx: Tx, threadId: string): Promise<void> {
  const [row] = await tx<{ count: number }[]>`
    select count(*) from (
      select from heddle.thread_items where thread_id = ${threadId} limit ${limits.threadItemChangesMax + 1}) as counted`
  if ((row?.count ?? 0) <= limits.threadItemChangesMax) return
  const rule = `items may be added to a thread, or removed, at most ${limits.threadItemChangesMax} times`
  throw validationError('item', rule, `more than ${limits.threadItemChangesMax}`, 'Use another thread.')
}

/**
 * Adds the agent's items with the mode `always` to new threads (docs/items.md). Later items are added explicitly.
 *
 * @returns the statement itself, which is sent when it is awaited
 */
export function startThreadItems(tx: Tx, threadIds: readonly string[]) {
  return tx`
    insert into heddle.thread_items (thread_id, item_id, version, include_mode)
    select thread.id, item.id, 1, 'always'
    from heddle.threads as thread
    join heddle.items as item on item.agent_id = thread.agent_id
    join heddle.item_versions as described on described.item_id = item.id and described.version = item.version
    left join heddle.tool_servers as server
      on item.type = 'tool' and server.agent_id = item.agent_id and server.name = item.server_name
    where thread.id = any(${asArray(threadIds)}::uuid[]) and not described.erased
      and coalesce(described.include, server.include, 'always') = 'always'
    order by thread.id, item.id
    on conflict do nothing`
}
