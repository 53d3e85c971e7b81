import type { Message, Position } from '@heddle/core'
import type { Tx } from './connection.js'
import { byIndexOrder, byKey } from './index-order.js'
import { type MessageRow, messageColumns, toMessage } from './stored-message.js'

/** A message as a thread's history shows it. */
export interface HistoryMessage extends Message {
  /** The time that the client gave. */
  readonly sentAtMs: number | null
  readonly receivedAtMs: number
  readonly sourceId: string | null
  readonly metadata: Readonly<Record<string, unknown>> | null
}

/**
 * Bytes of contents on one page of a history. A page has at least one message, and one message at most 4 million characters.
 */
const PAGE_BYTES_MAX = 8_000_000

export interface HistoryQuery {
  readonly threadId: string
  /** The sequence number of the message with which the page before ended. */
  readonly afterSeq?: number | undefined
  readonly limit: number
  readonly order: 'asc' | 'desc'
}

export interface HistoryPage {
  readonly messages: HistoryMessage[]
  readonly hasMore: boolean
}

/**
 * A page of a thread's history in the order of the conversation, with every field, whatever clears and windows hide.
 *
 * @returns null where no message has the number `afterSeq`
 */
export async function listHistory(
  tx: Tx,
  { threadId, afterSeq, limit, order }: HistoryQuery,
): Promise<HistoryPage | null> {
  const [after] =
    afterSeq === undefined
      ? []
      : await tx<Position[]>`
        select ordered_at as ordered_at_ms, ordinal, id from heddle.messages
        where thread_id = ${threadId} and ${byKey(tx, tx`seq`, tx`${afterSeq}`)}`
  if (after === undefined && afterSeq !== undefined) return null
  const direction = order === 'asc' ? tx`asc` : tx`desc`
  const past = order === 'asc' ? tx`>` : tx`<`
  // The sizes are added up first: a page of the largest messages would be more than a process can hold.
  const page = tx<(HistoryRow & { found: number })[]>`
    select ${historyColumns(tx)}, sized.found
    from (
      select seq, count(*) over () as found, row_number() over in_order as place,
        sum(octet_length(content)) over in_order - octet_length(content) as bytes_before
      from (
        select seq, content, ordered_at, ordinal, id
        from heddle.messages
        where thread_id = ${threadId}
          and ${after === undefined ? tx`true` : tx`(ordered_at, ordinal, id) ${past} (${after.orderedAtMs}, ${after.ordinal}, ${after.id})`}
        order by ordered_at ${direction}, ordinal ${direction}, id ${direction}
        limit ${limit + 1}
      ) as candidate
      window in_order as (
        order by ordered_at ${direction}, ordinal ${direction}, id ${direction} rows unbounded preceding)
    ) as sized
    cross join lateral (
      select * from heddle.messages
      where messages.thread_id = ${threadId} and ${byKey(tx, tx`messages.seq`, tx`sized.seq`)}) as message
    where sized.place <= ${limit} and sized.bytes_before < ${PAGE_BYTES_MAX}
    order by sized.place`
  const [, rows] = await Promise.all([byIndexOrder(tx), page])
  return { messages: rows.map(toHistoryMessage), hasMore: rows.length < (rows[0]?.found ?? 0) }
}

interface HistoryFields {
  readonly sentAtMs: number | null
  readonly receivedAtMs: number
  readonly sourceId: string | null
  readonly metadata: Record<string, unknown> | null
}

export type HistoryRow = MessageRow & HistoryFields

/** The columns of a {@link HistoryRow}, for `select ... from heddle.messages as message`. */
export function historyColumns(tx: Tx) {
  return tx`
    ${messageColumns(tx)},
    message.sent_at as sent_at_ms, message.received_at as received_at_ms, message.source_id, message.metadata`
}

export function toHistoryMessage(row: HistoryRow): HistoryMessage {
  const { sentAtMs, receivedAtMs, sourceId, metadata } = row
  return { ...toMessage(row), sentAtMs, receivedAtMs, sourceId, metadata }
}
