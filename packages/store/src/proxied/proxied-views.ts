import type { RecordedText, RequestDelta } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { messageOf } from '../forks/lineage.js'
import type { Rows } from '../schema/rows.js'
import { asArray, asQuotedArray } from '../sql/arrays.js'
import { byId, givenIds } from '../sql/by-id.js'
import { toStorable } from '../sql/text.js'

export interface NewProxiedView extends Readonly<Omit<Rows['proxiedViews'], 'projectId' | 'threadId'>> {
  /** Those that the request refers to for the first time. */
  readonly texts: readonly RecordedText[]
}

/**
 * Records the parts of a request. Its figures must have been recorded in the transaction.
 *
 * @returns false if nothing was recorded: the thread was erased, or the request that it is based on is gone
 */
export async function insertProxiedView(
  tx: Tx,
  { threadId, view }: { readonly threadId: string; readonly view: NewProxiedView },
): Promise<boolean> {
  const inserted = await tx`
    insert into heddle.proxied_views (
      id, thread_id, base_id, depth, delta, bytes_received, bytes_sent, hash_received, hash_sent)
    select
      ${view.id}::uuid, ${threadId}::uuid, ${view.baseId}::uuid, ${view.depth}::integer,
      ${toStorable(JSON.stringify(view.delta))}::text::json, ${view.bytesReceived}::integer, ${view.bytesSent}::integer,
      ${view.hashReceived}::bytea, ${view.hashSent}::bytea
    where exists (select from heddle.proxied_requests where id = ${view.id} and thread_id = ${threadId})
      and (${view.baseId}::uuid is null
        or exists (select from heddle.proxied_views where id = ${view.baseId} and thread_id = ${threadId}))
    on conflict (id) do nothing`
  if (inserted.count === 0) return false
  await insertTexts(tx, threadId, view.texts)
  return true
}

/** Texts that stand for erased messages are not stored again, though a proxy may have them in memory. */
async function insertTexts(tx: Tx, threadId: string, texts: readonly RecordedText[]): Promise<void> {
  if (texts.length === 0) return
  await tx`
    insert into heddle.proxied_texts (thread_id, hash, kind, message_id, context_id, text)
    select ${threadId}::uuid, given.hash, given.kind, given.message_id, given.context_id, given.text
    from unnest(
      ${asQuotedArray(texts.map(({ hash }) => hash))}::text[],
      ${asQuotedArray(texts.map(({ kind }) => kind))}::text[],
      ${asQuotedArray(texts.map(({ messageId }) => messageId))}::uuid[],
      ${asQuotedArray(texts.map(({ contextId }) => contextId))}::uuid[],
      ${asQuotedArray(texts.map(({ text }) => toStorable(text)))}::text[]
    ) as given (hash, kind, message_id, context_id, text)
    where not exists (
        select from heddle.message_erasures as erased
        where erased.thread_id = ${threadId} and erased.message_id = given.message_id)
      and (given.kind <> 'cover' or not exists (
        select from heddle.contexts where contexts.id = given.context_id and contexts.status <> 'built'))
    on conflict (thread_id, hash) do nothing`
}

export type ProxiedViewRow = Readonly<Omit<Rows['proxiedViews'], 'projectId' | 'delta'>> & {
  /** From the one without a base to that of the request. */
  readonly deltas: readonly RequestDelta[]
}

/** The record of a request; null if it is missing or incomplete. */
export async function loadProxiedView(
  tx: Tx,
  { id, depthMax }: { readonly id: string; readonly depthMax: number },
): Promise<ProxiedViewRow | null> {
  const rows = await tx<Rows['proxiedViews'][]>`
    with recursive chain as (
        select * from heddle.proxied_views where id = ${id}
      union all
        select base.* from chain join heddle.proxied_views as base on base.id = chain.base_id
        where base.depth < chain.depth
    )
    select
      id, thread_id, base_id, depth, delta, bytes_received, bytes_sent, hash_received, hash_sent
    from chain
    order by depth
    limit ${depthMax + 1}`
  const last = rows.at(-1)
  if (last === undefined || last.id !== id || rows[0]?.baseId !== null) return null
  const { delta: _, ...facts } = last
  return { ...facts, deltas: rows.map(({ delta }) => delta) }
}

/** Texts by their hashes; erased ones are missing. */
export async function loadProxiedTexts(
  tx: Tx,
  { threadId, hashes }: { readonly threadId: string; readonly hashes: readonly string[] },
): Promise<Map<string, string>> {
  if (hashes.length === 0) return new Map()
  const rows = await tx<{ hash: string; text: string }[]>`
    select hash, text from heddle.proxied_texts
    where thread_id = ${threadId} and hash = any(${asQuotedArray(hashes)}::text[])`
  return new Map(rows.map(({ hash, text }) => [hash, text]))
}

/** Removes the records of threads of which no figures are left. */
export async function removeLonelyViews(tx: Tx, threadIds: Iterable<string>): Promise<void> {
  const ids = asArray(new Set(threadIds))
  const isLonely = tx`
    thread_id = any(${ids}::uuid[]) and not exists (
      select from heddle.proxied_requests as request where request.thread_id = view.thread_id)`
  await Promise.all([
    tx`delete from heddle.proxied_views as view where ${isLonely}`,
    tx`delete from heddle.proxied_texts as view where ${isLonely}`,
  ])
}

/** Bytes of messages by their ids: their content, calls and reasoning. Ids that are not there are left out. */
export async function loadMessageBytes(
  tx: Tx,
  { threadId, ids }: { readonly threadId: string; readonly ids: readonly string[] },
): Promise<Map<string, number>> {
  const rows = await tx<{ id: string; bytes: number }[]>`
    select message.id, octet_length(content) + coalesce(octet_length(tool_calls::text), 0)
      + coalesce(octet_length(thinking::text), 0) + coalesce(octet_length(parts::text), 0) as bytes
    from ${givenIds(tx, ids)}
    cross join lateral (
      select * from ${messageOf(tx, threadId)} as messages where ${byId(tx, tx`messages`)}) as message`
  return new Map(rows.map(({ id, bytes }) => [id, bytes]))
}
