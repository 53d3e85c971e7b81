import type { IncludeMode, ItemType } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import { lineageIds } from '../forks/lineage.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'

/** A message that names the context it answers. */
export interface Reply {
  readonly threadId: string
  readonly seq: number
  readonly contextId: string
}

/**
 * Attaches contexts to the messages that answer them, in the transaction that stores these: from then on the record of a
 * context no longer expires (docs/receipts.md#the-request-context-of-a-reply). Replies that name a context of another thread,
 * or one that is not built, are skipped.
 */
export async function attachRequestContexts(tx: Tx, replies: readonly Reply[]): Promise<void> {
  // Of the replies to one context, the first counts.
  const first = new Map<string, Reply>()
  for (const reply of replies) {
    const key = `${reply.contextId} ${reply.threadId}`
    if (reply.seq < (first.get(key)?.seq ?? Number.POSITIVE_INFINITY)) first.set(key, reply)
  }
  const given = [...first.values()]
  const ids = asArray(given.map(({ contextId }) => contextId))
  const reply = tx`
    unnest(
      ${ids}::uuid[], ${asArray(given.map(({ threadId }) => threadId))}::uuid[], ${asArray(given.map(({ seq }) => seq))}::bigint[]
    ) as reply (context_id, thread_id, seq)`
  await Promise.all([
    tx`
      insert into heddle.context_items (
        context_id, thread_id, agent_id, built_at, item_ids, versions, modes, scores, tokens, sections, budget, tokens_used,
        agent_version, answered_seq)
      select
        context.id, context.thread_id, thread.agent_id, context.built_at, '{}', '{}', '{}', '{}', '{}', context.sections,
        context.budget, context.tokens_used, context.agent_version, reply.seq
      from ${reply}
      cross join lateral (
        select * from heddle.contexts
        where contexts.id = reply.context_id and contexts.thread_id = reply.thread_id and status = 'built'
        offset 0) as context
      join heddle.threads as thread on thread.id = reply.thread_id
      on conflict (context_id) do nothing`,
    tx`
      update heddle.context_items as shown
      set answered_seq = reply.seq
      from ${reply}
      where shown.context_id = any(${ids}::uuid[]) and shown.context_id = reply.context_id
        and shown.thread_id = reply.thread_id and (shown.answered_seq is null or shown.answered_seq > reply.seq)`,
  ])
}

/** An item of a request context: the version that was shown. */
export interface RequestContextItemRow {
  readonly itemId: string
  readonly version: number
  readonly type: ItemType
  readonly name: string
  readonly serverName: string
  readonly description: string | null
  readonly priorityLevel: number | null
  readonly includeMode: IncludeMode
  readonly score: number | null
  readonly tokens: number
  readonly isUsed: boolean
  /** Whether this version is the item's current one; false also for a removed item. */
  readonly isCurrent: boolean
}

export interface RequestContextRow
  extends Columns<
    'contextItems',
    'contextId' | 'builtAtMs' | 'sections' | 'budget' | 'tokensUsed' | 'agentVersion' | 'answeredSeq'
  > {
  readonly threadName: string
  readonly agentName: string
  /** The first message that answers it. */
  readonly messageId: string
  readonly items: readonly RequestContextItemRow[]
}

/** The record of a context that messages of a thread answer, with the details of its items; null without one. */
export async function loadRequestContext(
  tx: Tx,
  { threadId, contextId }: { threadId: string; contextId: string },
): Promise<RequestContextRow | null> {
  const [row] = await tx<RequestContextRow[]>`
    ${described(tx)}
    from (
      select * from heddle.context_items
      where context_id = ${contextId} and thread_id = any(${lineageIds(tx, threadId)}) and answered_seq is not null
      offset 0) as shown
    ${itsOwners(tx)}`
  return row ?? null
}

export interface RequestContextListing {
  readonly agentId: string
  /** Built at or after this time, in milliseconds since 1970; null for all. */
  readonly sinceMs: number | null
  readonly limit: number
  /** The last one of the previous page. */
  readonly after: Pick<RequestContextRow, 'builtAtMs' | 'contextId'> | null
}

/** A page of the request contexts of an agent, oldest first. */
export async function listRequestContexts(
  tx: Tx,
  { agentId, sinceMs, limit, after }: RequestContextListing,
): Promise<RequestContextRow[]> {
  return await tx<RequestContextRow[]>`
    ${described(tx)}
    from (
      select * from heddle.context_items
      where agent_id = ${agentId} and answered_seq is not null
        and ${sinceMs === null ? tx`true` : tx`built_at >= ${sinceMs}`}
        and ${after === null ? tx`true` : tx`(built_at, context_id) > (${after.builtAtMs}, ${after.contextId})`}
      order by built_at, context_id
      limit ${limit}) as shown
    ${itsOwners(tx)}
    order by shown.built_at, shown.context_id`
}

function described(tx: Tx) {
  return tx`
    select
      shown.context_id, shown.built_at as built_at_ms, shown.sections, shown.budget, shown.tokens_used, shown.agent_version,
      shown.answered_seq, thread.name as thread_name, agent.name as agent_name, message.id as message_id,
      coalesce((
        select json_agg(json_build_object(
          'itemId', one.item_id, 'version', one.version, 'type', item.type, 'name', item.name,
          'serverName', item.server_name, 'description', version.description, 'priorityLevel', version.priority_level,
          'includeMode', one.mode, 'score', one.score, 'tokens', one.tokens,
          'isUsed', one.item_id = any(shown.used_ids),
          'isCurrent', item.version = one.version) order by one.place)
        from unnest(shown.item_ids, shown.versions, shown.modes, shown.scores, shown.tokens)
          with ordinality as one (item_id, version, mode, score, tokens, place)
        cross join lateral (select * from heddle.items where items.id = one.item_id offset 0) as item
        cross join lateral (
          select * from heddle.item_versions
          where item_versions.item_id = one.item_id and item_versions.version = one.version offset 0) as version
      ), '[]') as items`
}

function itsOwners(tx: Tx) {
  return tx`
    cross join lateral (select * from heddle.threads where threads.id = shown.thread_id offset 0) as thread
    join heddle.agents as agent on agent.id = shown.agent_id
    cross join lateral (
      select id from heddle.messages
      where messages.thread_id = shown.thread_id and messages.seq = shown.answered_seq offset 0) as message`
}
