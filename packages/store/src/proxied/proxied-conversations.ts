import type { Tx } from '../connection/connection.js'
import { shareErasureLock } from '../messages/tombstones.js'
import type { Columns } from '../schema/rows.js'
import { asQuotedArray } from '../sql/arrays.js'

/** The state of a conversation with a provider, as it was read: it may have been written by another version. */
export interface ProxiedConversationRow extends Columns<'proxiedConversations', 'threadId' | 'thread' | 'version'> {
  readonly state: unknown
  readonly stubs: unknown
  readonly texts: unknown
}

/** How the conversation of a request is found. */
export type ConversationPlace =
  /** Its thread is named. */
  | { readonly kind: 'thread'; readonly threadId: string }
  /** Chains of the first entries of the request, the shortest first: that of the last request is among them. */
  | { readonly kind: 'chains'; readonly chains: readonly string[] }
  | ConversationOfSession

export interface ConversationOfSession {
  readonly kind: 'session'
  readonly session: string
  /** The thread that the conversation has if it is not one of those known. */
  readonly threadId: string
  /** Chain of the first entry of the request that is no instruction. */
  readonly begin: string
  /** Of the conversation that the request may go on with another beginning; null if it does not. */
  readonly instructions: string | null
}

/** @returns null if it is not known; of several, the one with the longest chain, or the last one of a session */
export async function loadProxiedConversation(
  tx: Tx,
  place: ConversationPlace,
): Promise<ProxiedConversationRow | null> {
  const [row] = await tx<ProxiedConversationRow[]>`
    select thread_id, thread, version, state, stubs, texts
    from heddle.proxied_conversations
    where ${isPlace(tx, place)}
    order by ${inOrder(tx, place)}
    limit 1`
  return row ?? null
}

function isPlace(tx: Tx, place: ConversationPlace) {
  const ofProject = tx`project_id = current_setting('heddle.project_id')::uuid`
  switch (place.kind) {
    case 'thread':
      return tx`thread_id = ${place.threadId}`
    case 'chains':
      return tx`${ofProject} and chain is not null and chain = any(${asQuotedArray(place.chains)}::text[])`
    case 'session':
      return tx`
        ${ofProject} and session is not null and session = ${place.session}
        and (thread_id = ${place.threadId} or begin = ${place.begin} or instructions = ${place.instructions}::text)`
  }
}

function inOrder(tx: Tx, place: ConversationPlace) {
  switch (place.kind) {
    case 'thread':
      return tx`thread_id`
    case 'chains':
      return tx`array_position(${asQuotedArray(place.chains)}::text[], chain) desc`
    case 'session':
      return tx`
        begin = ${place.begin} desc, thread_id = ${place.threadId} desc, (state->>'sentAtMs')::double precision desc`
  }
}

export interface NewProxiedConversation
  extends Columns<
    'proxiedConversations',
    'threadId' | 'thread' | 'chain' | 'session' | 'begin' | 'instructions' | 'state'
  > {
  /** The version that it replaces; 0 if it is the first one. */
  readonly version: number
  /** Omitted if they are those of that version. */
  readonly stubs?: Columns<'proxiedConversations', 'stubs'>['stubs'] | undefined
  readonly texts?: Columns<'proxiedConversations', 'texts'>['texts'] | undefined
}

export type SavedConversation =
  | { readonly kind: 'saved'; readonly version: number }
  /** Another process wrote it meanwhile. */
  | { readonly kind: 'replaced'; readonly version: number; readonly sentAtMs: number }
  /** It was erased, or messages of its thread were, or it was too old: what it holds must not come back. */
  | { readonly kind: 'gone' }

/** Writes the state of a conversation in place of the version that the caller knows, by compare-and-set. */
export async function saveProxiedConversation(tx: Tx, row: NewProxiedConversation): Promise<SavedConversation> {
  const count = row.version === 0 ? await insert(tx, row) : await update(tx, row)
  if (count === 1) return { kind: 'saved', version: row.version + 1 }
  const [found] = await tx<{ version: number; sentAtMs: number }[]>`
    select version, (state->>'sentAtMs')::double precision as sent_at_ms
    from heddle.proxied_conversations
    where thread_id = ${row.threadId}`
  return found === undefined ? { kind: 'gone' } : { kind: 'replaced', ...found }
}

/** Texts may quote messages that were erased before there was a row to delete. */
async function insert(tx: Tx, row: NewProxiedConversation): Promise<number> {
  const texts = textOf(row.texts ?? null)
  const [, , { count }] = await Promise.all([
    shareErasureLock(tx),
    tx`select from heddle.threads where id = ${row.threadId} for key share`,
    tx`
      insert into heddle.proxied_conversations (
        thread_id, thread, chain, session, begin, instructions, version, state, stubs, texts)
      select
        ${row.threadId}::uuid, ${row.thread}, ${row.chain}::text, ${row.session}::text, ${row.begin}::text,
        ${row.instructions}::text, 1, ${textOf(row.state)}::text::json, ${textOf(row.stubs ?? [])}::text::json,
        ${texts}::text::json
      where not exists (
          select from heddle.tombstones
          where target_id in (${row.threadId}, current_setting('heddle.project_id')::uuid))
        and (${texts === null} or not (
          exists (select from heddle.message_erasures where thread_id = ${row.threadId})
          or exists (select from heddle.tombstones where freed_id = ${row.threadId})))
      on conflict (thread_id) do nothing`,
  ])
  return count
}

/** Columns without a change keep their stored bytes. */
async function update(tx: Tx, row: NewProxiedConversation): Promise<number> {
  const { count } = await tx`
    update heddle.proxied_conversations
    set
      chain = ${row.chain}::text, session = ${row.session}::text, begin = ${row.begin}::text,
      instructions = ${row.instructions}::text, version = version + 1, state = ${textOf(row.state)}::text::json,
      used_at = case when used_at < now() - interval '1 hour' then now() else used_at end
      ${row.stubs === undefined ? tx`` : tx`, stubs = ${textOf(row.stubs)}::text::json`}
      ${row.texts === undefined ? tx`` : tx`, texts = ${textOf(row.texts)}::text::json`}
    where thread_id = ${row.threadId} and version = ${row.version}`
  return count
}

function textOf(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value)
}
