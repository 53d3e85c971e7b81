import { comparePositions, type Message } from '@heddle/core'
import type { PendingQuery, Row } from 'postgres'
import type { Tx } from '../connection/connection.js'
import { byKey } from '../sql/index-order.js'

/*
 * A message that was restored stands in its conversation more than once: where it was first, and at each of its marks. A
 * context shows it once, at the last of those places that the clear left.
 */

/** The same messages; of a message and its marks the last one in the conversation alone. */
export function shownOnce(messages: readonly Message[]): Message[] {
  if (!messages.some(({ restores }) => restores !== undefined)) return [...messages]
  const last = new Map<number, Message>()
  for (const message of messages) {
    const seq = message.restores?.seq ?? message.seq
    const other = last.get(seq)
    if (other === undefined || comparePositions(other, message) < 0) last.set(seq, message)
  }
  return messages.filter((message) => last.get(message.restores?.seq ?? message.seq) === message)
}

/**
 * A query: the sequence numbers of places at which a thread's messages stand, and stand again later in the conversation. It
 * is read once, by the index of marks, and finds nothing in a thread without any.
 *
 * @param isLeft the condition on rows of `message` that a clear has left them
 */
export function earlierPlaces(tx: Tx, threadId: string, isLeft: PendingQuery<Row[]>) {
  const columns = tx`seq, restores_seq, ordered_at, ordinal, id`
  return tx`
    select seq
    from (
      select seq, row_number() over (
        partition by coalesce(restores_seq, seq) order by ordered_at desc, ordinal desc, id desc) as place
      from (
        select ${columns} from marks
        union all
        select original.*
        from (select distinct restores_seq as seq from marks) as restored
        cross join lateral (
          select ${columns} from heddle.messages
          where messages.thread_id = ${threadId} and ${byKey(tx, tx`messages.seq`, tx`restored.seq`)}) as original
      ) as message
      where ${isLeft}
    ) as placed
    where place > 1`
}

/** What {@link earlierPlaces} reads, for the `with` of the query that it is a part of. */
export function marksOf(tx: Tx, threadId: string) {
  return tx`
    marks as materialized (
      select seq, restores_seq, ordered_at, ordinal, id from heddle.messages
      where thread_id = ${threadId} and restores_seq is not null and restores_seq > 0
      order by restores_seq
    )`
}
