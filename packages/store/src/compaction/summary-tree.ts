import type { Position } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { inheritedStates } from '../forks/inherited-states.js'
import { lineageIds, messageOf } from '../forks/lineage.js'
import { holdThread } from '../messages/tombstones.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'
import { byId, givenId } from '../sql/by-id.js'
import { toStorable } from '../sql/text.js'
import type { ContextStateRow } from './states.js'

/** A leaf of a series of compactions: some covered messages that follow one another. */
export interface LeafRow {
  /** Of its messages, as hexadecimal digits. */
  readonly hash: string
  /** Its last message. */
  readonly end: Position
}

/** A series of compactions up to one of them, which keeps some messages raw. */
export type SeriesUpTo = Pick<ContextStateRow, 'threadId' | 'lane' | 'clearEpoch' | 'generation' | 'topIds'>

/**
 * The leaves that a series has up to a state, as far as they hold for it, oldest first.
 *
 * A state covers what the one before it covered and more, so that its leaves go on where the earlier ones end. But it may
 * also cover messages in between that were held raw until then, such as a request that is no longer the latest: from the
 * first leaf on that does not know of one, they are cut again.
 */
export async function loadLeaves(tx: Tx, state: SeriesUpTo): Promise<LeafRow[]> {
  const series = tx`
    select id, generation, top_ids from heddle.context_states
    where thread_id = ${state.threadId} and lane = ${state.lane} and clear_epoch = ${state.clearEpoch}
      and generation <= ${state.generation} and status <> 'void'
    ${inheritedStates(tx, state)}`
  const rows = await tx<(StoredLeaf & { place: number; isStale: boolean })[]>`
    with series as (${series}),
    released as (
      select message.ordered_at, message.ordinal, message.id, held.until
      from (
        select top.id, max(series.generation) as until
        from series cross join lateral unnest(series.top_ids) as top (id)
        where top.id <> all (${asArray(state.topIds)}::uuid[])
        group by top.id) as held
      cross join lateral ${givenId(tx, tx`held.id`)}
      cross join lateral (
        select ordered_at, ordinal, id from ${messageOf(tx, state.threadId)} as messages
        where ${byId(tx, tx`messages`)}) as message
    ),
    leaves as (
      select distinct on (leaf.place)
        leaf.place, leaf.hash, leaf.end_at, leaf.end_ordinal, leaf.end_id, series.generation
      from heddle.summary_leaves as leaf
      join series on series.id = leaf.state_id
      where leaf.thread_id = any(${lineageIds(tx, state.threadId)})
      order by leaf.place, series.generation desc, leaf.thread_id = ${state.threadId} desc
    )
    select
      place, encode(hash, 'hex') as hash, end_at as end_at_ms, end_ordinal, end_id,
      exists (
        select from released
        where released.until >= leaves.generation
          and (released.ordered_at, released.ordinal, released.id) <= (leaves.end_at, leaves.end_ordinal, leaves.end_id)
      ) as is_stale
    from leaves
    order by place`
  const held = rows.findIndex(({ place, isStale }, index) => isStale || place !== index)
  return rows.slice(0, held < 0 ? rows.length : held).map(toLeaf)
}

type StoredLeaf = Columns<'summaryLeaves', 'endAtMs' | 'endOrdinal' | 'endId'> & { readonly hash: string }

function toLeaf({ hash, endAtMs, endOrdinal, endId }: StoredLeaf): LeafRow {
  return { hash, end: { orderedAtMs: endAtMs, ordinal: endOrdinal, id: endId } }
}

export interface CutLeaf {
  readonly threadId: string
  /** The state for which it was cut. */
  readonly stateId: string
  readonly place: number
  readonly leaf: LeafRow
}

/** Records where a leaf ends; nothing is written where the thread was erased meanwhile. */
export async function recordLeaf(tx: Tx, { threadId, stateId, place, leaf }: CutLeaf): Promise<void> {
  if (!(await holdThread(tx, threadId))) return
  await tx`
    insert into heddle.summary_leaves (thread_id, state_id, place, hash, end_at, end_ordinal, end_id)
    select
      ${threadId}, id, ${place}, decode(${leaf.hash}, 'hex'),
      ${leaf.end.orderedAtMs}::timestamptz, ${leaf.end.ordinal}::integer, ${leaf.end.id}::uuid
    from heddle.context_states
    where id = ${stateId} and thread_id = ${threadId} and status <> 'void'
    on conflict (thread_id, state_id, place) do update
    set hash = excluded.hash, end_at = excluded.end_at, end_ordinal = excluded.end_ordinal, end_id = excluded.end_id`
}

export interface PartsOfThread {
  readonly threadId: string
  /** The name of who wrote the summaries. */
  readonly summarizer: string
  /** The head of the thread that was summarized. */
  readonly headSeq: number
  /** Its `erased_count` then. */
  readonly erasedCount: number
}

/** The summaries of parts, by their hashes; those that nobody made yet are missing. */
export async function loadSummaryParts(
  tx: Tx,
  { threadId, summarizer, hashes }: Pick<PartsOfThread, 'threadId' | 'summarizer'> & { hashes: readonly string[] },
): Promise<Map<string, string>> {
  if (hashes.length === 0) return new Map()
  const rows = await tx<{ hash: string; summary: string }[]>`
    select encode(hash, 'hex') as hash, summary
    from heddle.summary_parts
    where thread_id = any(${lineageIds(tx, threadId)}) and summarizer = ${summarizer}
      and hash = any(array(select decode(digits, 'hex') from unnest(${asArray(hashes)}::text[]) as digits))`
  return new Map(rows.map(({ hash, summary }) => [hash, summary]))
}

/** Keeps the summary of a part; the one that is there already stays. Nothing is written where the thread was erased. */
export async function recordSummaryPart(
  tx: Tx,
  { threadId, summarizer, headSeq, erasedCount, hash, summary }: PartsOfThread & { hash: string; summary: string },
): Promise<void> {
  if (!(await holdThread(tx, threadId, headSeq, erasedCount))) return
  await tx`
    insert into heddle.summary_parts (thread_id, hash, summarizer, summary)
    values (${threadId}, decode(${hash}, 'hex'), ${summarizer}, ${toStorable(summary)})
    on conflict do nothing`
}

/** Removes all that one summarizer has kept of a thread. */
export async function forgetSummaryParts(
  tx: Tx,
  { threadId, summarizer }: Pick<PartsOfThread, 'threadId' | 'summarizer'>,
): Promise<void> {
  await tx`delete from heddle.summary_parts where thread_id = ${threadId} and summarizer = ${summarizer}`
}
