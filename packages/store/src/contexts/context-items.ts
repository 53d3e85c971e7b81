import type { ContextRequest, ContextResult, Receipt } from '@heddle/contracts'
import type { AnsweredContext, ShownItem } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { messagesOf, someMessagesOf } from '../forks/lineage.js'
import { asArray } from '../sql/arrays.js'

/**
 * The insert of a context's items, as a part of the statement that stores the context: `finished` has its row if it is
 * written. So it costs no round trip, and nothing is written for a context that was finished before or erased.
 *
 * @returns null if the context shows no items
 */
export function shownItemsInsert(tx: Tx, { receipt, budget, tokensUsed }: ContextResult) {
  const { entries, agentVersion } = receipt
  const shown = entries.flatMap(({ item, mode, tokens }) =>
    item === undefined || mode === 'left-out' ? [] : [{ ...item, tokens }],
  )
  if (shown.length === 0) return null
  return tx`
    insert into heddle.context_items (
      context_id, thread_id, agent_id, item_ids, versions, modes, scores, tokens, sections, budget, tokens_used,
      agent_version)
    select
      finished.id, finished.thread_id, thread.agent_id,
      ${asArray(shown.map(({ itemId }) => itemId))}::uuid[],
      ${asArray(shown.map(({ version }) => version))}::integer[],
      ${asArray(shown.map(({ includeMode }) => includeMode))}::text[],
      ${asArray(shown.map(({ similarityScore }) => similarityScore ?? 'null'))}::real[],
      ${asArray(shown.map(({ tokens }) => tokens))}::integer[],
      ${sectionCounts(receipt)}::text::json, ${budget}::integer, ${tokensUsed}::integer, ${agentVersion}::integer
    from finished join heddle.threads as thread on thread.id = finished.thread_id`
}

/**
 * The sections of a context that show something, as JSON: their entries and their tokens by name. Those with blocks are in it
 * also if the receipt alone names one, since an erasure finds the context by them.
 */
export function sectionCounts({ sections, entries }: Pick<Receipt, 'sections' | 'entries'>): string {
  const named = new Set(entries.flatMap(({ block, section }) => (block === undefined ? [] : [section])))
  const shown = sections.filter(({ name, count, tokens }) => count + tokens > 0 || named.has(name))
  return JSON.stringify(Object.fromEntries(shown.map(({ name, count, tokens }) => [name, [count, tokens]])))
}

/** Characters of a text that are compared: replies seldom use later parts of an item. */
const TEXT_CHARACTERS_MAX = 4_000
/** Messages before a reply that are searched for the user's latest. */
const ASKED_DISTANCE_MAX = 50
/** Later messages of a longer turn are not counted as part of the reply. */
export const TURN_MESSAGES_MAX = 200

/** Contexts of a thread that showed items and that messages answer. */
export async function loadAnswered(
  tx: Tx,
  { threadId, replies }: { threadId: string; replies: readonly { contextId: string; seq: number }[] },
): Promise<AnsweredContext[]> {
  if (replies.length === 0) return []
  const asked = tx`
    and role = 'user' and restores_seq is null and seq < reply.seq and seq >= reply.seq - ${ASKED_DISTANCE_MAX}
    order by seq desc limit 1`
  // Found by key and not by thread: a thread may have a hundred thousand contexts.
  const rows = await tx<
    { contextId: string; request: ContextRequest | null; said: string | null; items: ShownItem[] | null }[]
  >`
    select shown.context_id,
      (select request from heddle.contexts where id = shown.context_id) as request,
      (select left(content, ${TEXT_CHARACTERS_MAX}) from ${someMessagesOf(tx, threadId, asked)} as message
        where true ${asked}) as said,
      (select json_agg(json_build_object(
          'itemId', item.id, 'type', item.type, 'name', item.name, 'serverName', item.server_name,
          'text', left(described.text, ${TEXT_CHARACTERS_MAX})))
        from unnest(shown.item_ids, shown.versions) as one (item_id, version)
        join heddle.items as item on item.id = one.item_id
        join heddle.item_versions as described on described.item_id = one.item_id and described.version = one.version
      ) as items
    from unnest(
      ${asArray(replies.map(({ contextId }) => contextId))}::uuid[], ${asArray(replies.map(({ seq }) => seq))}::bigint[]
    ) as reply (context_id, seq)
    cross join lateral (
      select * from heddle.context_items
      where context_items.context_id = reply.context_id and context_items.thread_id = ${threadId}
      offset 0) as shown`
  // The message is extracted here: the server cannot convert one with NUL characters to text.
  return rows.map(({ contextId, request, said, items }) => ({
    contextId,
    asked: [request?.message?.slice(0, TEXT_CHARACTERS_MAX) ?? null, said],
    items: items ?? [],
  }))
}

/** The context whose answer was the latest before a message, if its turn may continue. */
export async function findOpenTurn(
  tx: Tx,
  { threadId, beforeSeq }: { threadId: string; beforeSeq: number },
): Promise<{ contextId: string; seq: number } | null> {
  const [open] = await tx<{ contextId: string; seq: number }[]>`
    select latest.context_id, latest.seq
    from (
      select context_id, answered_seq as seq from heddle.context_items
      where thread_id = ${threadId} and answered_seq < ${beforeSeq} and answered_seq >= ${beforeSeq - TURN_MESSAGES_MAX}
      order by answered_seq desc
      limit 1) as latest
    where not exists (
      select from ${messagesOf(tx, threadId)} as messages
      where messages.seq > latest.seq and messages.seq < ${beforeSeq}
        and (role = 'user' or context_id is not null))`
  return open ?? null
}

export interface ItemUse {
  readonly contextId: string
  readonly answeredSeq: number
  readonly usedIds: readonly string[]
}

/** Records answers. Used ids are only added, so the parts of a turn may be recorded in any order and repeatedly. */
export async function recordItemUses(tx: Tx, uses: readonly ItemUse[]): Promise<void> {
  for (const { contextId, answeredSeq, usedIds } of uses) {
    const used = asArray(usedIds)
    await tx`
      update heddle.context_items
      set
        answered_seq = least(answered_seq, ${answeredSeq}),
        used_ids = used_ids || array(select unnest(${used}::uuid[]) except select unnest(used_ids))
      where context_id = ${contextId}
        and (answered_seq is null or answered_seq > ${answeredSeq} or not used_ids @> ${used}::uuid[])`
  }
}
