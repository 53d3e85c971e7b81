import type { WindowBounds } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'
import { byId, givenIds } from '../sql/by-id.js'
import type { PreparedMessage } from './append-plan.js'
import { insertMessages } from './insert-messages.js'
import { threadStands } from './tombstones.js'

/** A thread whose order of storing nobody else adds to until the transaction ends. */
export interface HeldHead {
  readonly threadId: string
  readonly headSeq: number
  /** The latest place in time of all messages; null where there are none. */
  readonly latestAtMs: number | null
}

/**
 * Holds the head of a thread, as an append does. What is read after it in the transaction is what the marks are made from.
 *
 * @returns null where the thread is gone
 */
export async function holdHead(tx: Tx, threadId: string): Promise<HeldHead | null> {
  const [cursor] = await tx<{ headSeq: number; latestAtMs: number | null }[]>`
    select head_seq, last_message_at as latest_at_ms from heddle.stage_cursors where thread_id = ${threadId} for update`
  // A statement of its own: it looks for tombstones after the row was given.
  const { count } = await tx`select from heddle.threads as thread where thread.id = ${threadId} and ${threadStands(tx)}`
  return cursor === undefined || count === 0 ? null : { threadId, ...cursor }
}

/** A stored message that a snapshot holds, and whether the window shows it. */
export interface StoredOriginal extends Columns<'messages', 'id' | 'seq' | 'role' | 'tokensEstimate'> {
  /** Whether the window shows it where it was first, or by a mark that an earlier restore left. */
  readonly isShown: boolean
}

/** Messages of a thread by their ids, in no order; those that are not there are left out. */
export async function findOriginals(
  tx: Tx,
  { threadId, ids, bounds }: { threadId: string; ids: readonly string[]; bounds: WindowBounds },
): Promise<StoredOriginal[]> {
  const sinceMs = bounds.sinceMs ?? Number.NEGATIVE_INFINITY
  return await tx<StoredOriginal[]>`
    select
      found.id, found.seq, found.role, found.tokens_estimate,
      (found.seq > ${bounds.clearedSeq} and found.ordered_at > ${sinceMs})
        or exists (
          select from heddle.messages as mark
          where mark.thread_id = ${threadId} and mark.restores_seq = found.seq and mark.seq > ${bounds.clearedSeq}
            and mark.ordered_at > ${sinceMs}) as is_shown
    from ${givenIds(tx, ids)}
    cross join lateral (
      select id, seq, role, tokens_estimate, ordered_at, restores_seq from heddle.messages
      where messages.thread_id = ${threadId} and ${byId(tx, tx`messages`)}) as found
    where found.restores_seq is null`
}

/** A mark that is to be left: a place in the conversation that shows a stored message. */
export interface NewMark extends Pick<PreparedMessage, 'ordinal' | 'fingerprint' | 'input'> {
  readonly original: StoredOriginal
}

/**
 * Leaves marks at the head of a thread that {@link holdHead} holds. They count neither as messages nor for the thread's
 * tokens: what they show is counted where it was first.
 */
export async function insertMarks(
  tx: Tx,
  { threadId, headSeq, latestAtMs }: HeldHead,
  { marks, orderedAtMs, receivedAtMs }: { marks: readonly NewMark[]; orderedAtMs: number; receivedAtMs: number },
): Promise<void> {
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
