import { boundPlace, type WindowBounds } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { messageOf, messagesOf } from '../forks/lineage.js'
import type { Columns } from '../schema/rows.js'
import { byId, givenIds } from '../sql/by-id.js'
import type { PreparedMessage } from './append-plan.js'
import { insertMessages } from './insert-messages.js'
import { threadStands } from './tombstones.js'

/** A thread to which no other transaction appends until this one ends. */
export interface HeldHead {
  readonly threadId: string
  readonly headSeq: number
  /** The latest time of all messages; null if the thread is empty. */
  readonly latestAtMs: number | null
  /** By the clock of the database, like the receipt of an append. */
  readonly receivedAtMs: number
}

/**
 * Locks the head of a thread, as an append does. The marks are made from messages that are read after it in the transaction.
 *
 * @returns null if the thread was erased
 */
export async function holdHead(tx: Tx, threadId: string): Promise<HeldHead | null> {
  const [cursor] = await tx<Omit<HeldHead, 'threadId'>[]>`
    select
      head_seq, last_message_at as latest_at_ms, date_trunc('milliseconds', clock_timestamp()) as received_at_ms
    from heddle.stage_cursors where thread_id = ${threadId} for update`
  // A statement of its own, so that it reads tombstones after the row was locked.
  const { count } = await tx`select from heddle.threads as thread where thread.id = ${threadId} and ${threadStands(tx)}`
  return cursor === undefined || count === 0 ? null : { threadId, ...cursor }
}

/** A stored message that a snapshot holds, and whether the window shows it. */
export interface StoredOriginal extends Columns<'messages', 'id' | 'seq' | 'role' | 'tokensEstimate'> {
  /** Whether the window shows it at its first position, or by a mark of an earlier restore. */
  readonly isShown: boolean
}

/** Messages of a thread by their ids, in no order; missing ones are left out. */
export async function findOriginals(
  tx: Tx,
  { threadId, ids, bounds }: { threadId: string; ids: readonly string[]; bounds: WindowBounds },
): Promise<StoredOriginal[]> {
  const sinceMs = bounds.sinceMs ?? Number.NEGATIVE_INFINITY
  return await tx<StoredOriginal[]>`
    select
      found.id, found.seq, found.role, found.tokens_estimate,
      -- An erased message has nothing to bring back.
      found.kept_aside = 'erased' or (found.seq > ${bounds.clearedSeq} and found.ordered_at > ${sinceMs})
        or exists (
          select from ${messagesOf(tx, threadId)} as mark
          where mark.restores_seq = found.seq and mark.seq > ${bounds.clearedSeq}
            and mark.ordered_at > ${sinceMs}) as is_shown
    from ${givenIds(tx, ids)}
    cross join lateral (
      select id, seq, role, tokens_estimate, ordered_at, restores_seq, coalesce(kept_aside, '') as kept_aside from ${messageOf(tx, threadId)} as messages
      where ${byId(tx, tx`messages`)}) as found
    where found.restores_seq is null`
}

/** A new mark: a position in the conversation that shows a stored message. */
export interface NewMark extends Pick<PreparedMessage, 'ordinal' | 'fingerprint' | 'input'> {
  readonly original: StoredOriginal
}

/**
 * Writes marks at the head of a thread that {@link holdHead} has locked. They count neither as messages nor as tokens of the
 * thread: the messages that they show are counted at their first positions.
 */
export async function insertMarks(
  tx: Tx,
  { threadId, headSeq, latestAtMs, receivedAtMs }: HeldHead,
  { marks, proposedAtMs }: { marks: readonly NewMark[]; proposedAtMs: number },
): Promise<void> {
  const orderedAtMs = boundPlace(proposedAtMs, receivedAtMs)
  const latest = Math.max(latestAtMs ?? orderedAtMs, orderedAtMs)
  const planned = marks.map(({ original, ...mark }, index) => ({
    threadId,
    seq: headSeq + index + 1,
    latestAtMs: latest > orderedAtMs ? latest : null,
    message: { ...mark, orderedAtMs, tokensEstimate: original.tokensEstimate, restoresSeq: original.seq },
  }))
  await Promise.all([
    insertMessages(tx, planned, { receivedAtMs }),
    tx`
      update heddle.stage_cursors
      set
        head_seq = ${headSeq + marks.length}, restored_count = restored_count + ${marks.length},
        last_message_at = ${latest}
      where thread_id = ${threadId}`,
  ])
}
