import type { Tx } from '../connection/connection.js'
import { asArray } from '../sql/arrays.js'
import { byKey } from '../sql/index-order.js'
import {
  type HistoryMessage,
  type HistoryRow,
  historyColumns,
  latestRestoration,
  objectBytes,
  PAGE_BYTES_MAX,
  toHistoryMessage,
} from './history.js'
import type { MessagePlace } from './places.js'

type Place = Pick<MessagePlace, 'threadId' | 'seq' | 'bytes'>

export interface PlacedMessage<Given extends Place = MessagePlace> {
  readonly place: Given
  readonly message: HistoryMessage
}

export interface MessagePage<Given extends Place = MessagePlace> {
  readonly messages: readonly PlacedMessage<Given>[]
  readonly hasMore: boolean
}

/**
 * A page of messages by their places, with every field. As with a thread's history a page is limited in bytes, and has at least
 * one message.
 *
 * @param places in the order of the page, with one more than it may hold
 */
export async function loadMessagePage<Given extends Place>(
  tx: Tx,
  places: readonly Given[],
  limit: number,
): Promise<MessagePage<Given>> {
  const fitting = within(places.slice(0, limit), ({ bytes }) => bytes)
  if (fitting.length === 0) return { messages: [], hasMore: false }
  const given = tx`
    unnest(
      ${asArray(fitting.map(({ threadId }) => threadId))}::uuid[], ${asArray(fitting.map(({ seq }) => seq))}::bigint[]
    ) with ordinality as given (thread_id, seq, number)
    cross join lateral (
      select * from heddle.messages
      where messages.thread_id = given.thread_id and ${byKey(tx, tx`messages.seq`, tx`given.seq`)}) as message`
  // The sizes are read first: a page of the largest messages would not fit into memory.
  const sizes = await tx<{ number: number; bytes: number }[]>`
    select given.number, octet_length(content) + ${objectBytes(tx)} as bytes from ${given} order by given.number`
  const sized = within(sizes, ({ bytes }) => bytes)
  const rows = await tx<(HistoryRow & { number: number })[]>`
    select ${historyColumns(tx)}, given.number, ${latestRestoration(tx)} as restored
    from ${given}
    where given.number <= ${sized.at(-1)?.number ?? 0}
    order by given.number`
  const messages = rows.flatMap((row): PlacedMessage<Given>[] => {
    const place = places[row.number - 1]
    return place === undefined ? [] : [{ place, message: toHistoryMessage(row, null) }]
  })
  return { messages, hasMore: messages.length < places.length }
}

/** The first entries that fit into a page. */
function within<Entry>(entries: readonly Entry[], bytesOf: (entry: Entry) => number): Entry[] {
  let bytes = 0
  return entries.filter((entry) => {
    const isFitting = bytes < PAGE_BYTES_MAX
    bytes += bytesOf(entry)
    return isFitting
  })
}
