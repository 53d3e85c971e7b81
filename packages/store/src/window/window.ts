import type { Tx } from '../connection/connection.js'
import { loadSharedRuns, messageAt, messagesOf } from '../forks/lineage.js'
import { byKey } from '../sql/index-order.js'

/** Which messages of a thread are in the window: those after a time and after a sequence number, both excluded. */
export interface WindowRange {
  readonly threadId: string
  /** Milliseconds since 1970; null for no bound. */
  readonly sinceMs: number | null
  /** The head at the last clear; 0 for none. */
  readonly afterSeq: number
  /** Restore marks in the thread, if known: with 0 the query for them is skipped. */
  readonly restoredCount?: number
}

export interface MessageCounts {
  /** All messages of the thread. */
  readonly stored: number
  readonly inWindow: number
  /** The sequence number before which all messages are outside the window. */
  readonly openingSeq: number
  /** Messages of the window that may be in a context. A restored message counts once. */
  readonly eligible: number
  /** Messages of the window that may not, by reason: `compact-summary`, or the roles `error` and `approval`. */
  readonly aside: Readonly<Record<string, number>>
}

/**
 * Counts the messages of a window exactly without reading them: `latest_at` never decreases from one sequence number to the
 * next, so a binary search finds the first message after the time bound. All later ones are in the window, except those that
 * came late and those that contexts never show; both are few and have their own index.
 */
export async function countMessages(tx: Tx, bounds: WindowRange): Promise<MessageCounts> {
  const { threadId, afterSeq } = bounds
  await loadSharedRuns(tx, threadId)
  const [[window], asides, again] = await Promise.all([
    tx<{ stored: number; inWindow: number; openingSeq: number }[]>`
      with recursive halving (low, high) as (
          select greatest(base_seq, ${afterSeq}), greatest(head_seq, ${afterSeq}) + 1
          from heddle.stage_cursors
          where thread_id = ${threadId}
        union all
          select
            case when middle.is_inside then halving.low else middle.seq end,
            case when middle.is_inside then middle.seq else halving.high end
          from halving
          -- Computed apart from the comparison: under row-level security, a comparison finds rows by an index only where
          -- nothing in it can fail, and a division can.
          cross join lateral (select (halving.low + halving.high) / 2 as seq offset 0) as half
          cross join lateral (
            select messages.seq, coalesce(messages.latest_at, messages.ordered_at) > ${since(bounds)} as is_inside
            from ${messageAt(tx, threadId, tx`half.seq`)} as messages
            where ${byKey(tx, tx`messages.seq`, tx`half.seq`)}) as middle
          where halving.high - halving.low > 1
      ),
      opening as (select min(high) as seq from halving)
      select
        cursor.head_seq - cursor.base_seq - cursor.restored_count as stored, opening.seq as opening_seq,
        greatest(cursor.head_seq, ${afterSeq}) + 1 - opening.seq - (
          -- Adding 0 keeps the planner from the index on seq: the late ones have an index of their own.
          select count(*) from ${messagesOf(tx, threadId)} as late
          where late.ordered_at < late.latest_at
            and late.ordered_at <= ${since(bounds)} and late.seq + 0 >= opening.seq) as in_window
      from opening
      join heddle.stage_cursors as cursor on cursor.thread_id = ${threadId}`,
    tx<{ reason: string; count: number }[]>`
      select coalesce(kept_aside, role) as reason, count(*) as count
      from ${messagesOf(tx, threadId)} as message
      where (kept_aside is not null or role in ('error', 'approval'))
        and ordered_at > ${since(bounds)} and seq > ${afterSeq}
      group by reason`,
    countAgain(tx, bounds),
  ])
  const { stored, inWindow, openingSeq } = window ?? { stored: 0, inWindow: 0, openingSeq: 1 }
  const asideCount = asides.reduce((sum, { count }) => sum + count, 0)
  return {
    stored,
    inWindow,
    openingSeq,
    eligible: inWindow - asideCount - again,
    aside: Object.fromEntries(asides.map(({ reason, count }) => [reason, count])),
  }
}

/** Positions of the window at which a message is shown again. There are as many marks as restored messages, which are few. */
async function countAgain(tx: Tx, bounds: WindowRange): Promise<number> {
  const { threadId, afterSeq } = bounds
  if (bounds.restoredCount === 0) return 0
  const isInside = tx`ordered_at > ${since(bounds)} and seq > ${afterSeq}`
  const [row] = await tx<{ count: number }[]>`
    select count(*) - count(distinct restores_seq) filter (where not is_original_inside) as count
    from (
      select restores_seq, exists (
        select from (
          select ordered_at, seq from ${messageAt(tx, threadId, tx`mark.restores_seq`)} as messages
          where ${byKey(tx, tx`messages.seq`, tx`mark.restores_seq`)}) as original
        where ${isInside}) as is_original_inside
      from (
        select restores_seq, ordered_at, seq from ${messagesOf(tx, threadId)} as message
        where restores_seq is not null and restores_seq > 0
        order by restores_seq
      ) as mark
      where ${isInside}
    ) as shown`
  return row?.count ?? 0
}

function since({ sinceMs }: WindowRange): number {
  return sinceMs ?? Number.NEGATIVE_INFINITY
}
