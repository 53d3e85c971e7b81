import { comparePositions, type Message } from '@heddle/core'
import type { PendingQuery, Row } from 'postgres'
import type { Tx } from '../connection/connection.js'
import { messageAt, messagesOf } from '../forks/lineage.js'
import { byKey } from '../sql/index-order.js'

/*
 * A restored message has several positions in its conversation: the original one, and one for each of its marks. A context
 * shows it once, at the last of those positions that is after the clear.
 */

/** The same messages, but of a message and its marks only the last one in the conversation. */
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
 * A query of the sequence numbers at which a thread's messages are shown, and shown again later in the conversation. It runs
 * once, by the index of marks, and finds nothing in a thread without any.
 *
 * @param isLeft the condition that a row of `message` is after the clear
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
          select ${columns} from ${messageAt(tx, threadId, tx`restored.seq`)} as messages
          where ${byKey(tx, tx`messages.seq`, tx`restored.seq`)}) as original
      ) as message
      where ${isLeft}
    ) as placed
    where place > 1`
}

/** The `with` part that {@link earlierPlaces} needs. */
export function marksOf(tx: Tx, threadId: string) {
  return tx`
    marks as materialized (
      select seq, restores_seq, ordered_at, ordinal, id from ${messagesOf(tx, threadId)} as message
      where restores_seq is not null and restores_seq > 0
      order by restores_seq
    )`
}
