import type { Message, Position } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { loadSharedRuns, someMessagesOf } from '../forks/lineage.js'
import { objectBytes, PAGE_BYTES_MAX } from './history.js'
import { type MessageRow, messageColumns, toMessage } from './stored-message.js'

export interface NewestQuery {
  readonly threadId: string
  /** The oldest message of the previous page. Default: the end of the conversation. */
  readonly before?: Position | undefined
  readonly limit: number
  /** Bytes at most, beyond which only the oldest of the page may go. */
  readonly bytesMax?: number | undefined
}

export interface NewestMessages {
  /** The newest first. Messages that were restored are only at their original positions. */
  readonly messages: Message[]
  readonly hasMore: boolean
  /** Of the texts and objects of these messages. */
  readonly bytes: number
}

/**
 * A page of the messages of a thread from its end, including those that clears and windows hide. It has the fields that rules read,
 * and so takes half as long as a page of the history.
 */
export async function loadNewestMessages(
  tx: Tx,
  { threadId, before, limit, bytesMax = PAGE_BYTES_MAX }: NewestQuery,
): Promise<NewestMessages> {
  await loadSharedRuns(tx, threadId)
  const order = tx`order by ordered_at desc, ordinal desc, id desc`
  const part = tx`
    and restores_seq is null
    and ${before === undefined ? tx`true` : tx`(ordered_at, ordinal, id) < (${before.orderedAtMs}, ${before.ordinal}, ${before.id})`}
    ${order} limit ${limit + 1}`
  // A page of the largest messages would not fit into memory.
  const rows = await tx<(MessageRow & { found: number; bytesThrough: number })[]>`
    select ${messageColumns(tx)}, found, bytes_through
    from (
      select *, count(*) over () as found, row_number() over in_order as place,
        (sum(bytes) over in_order)::float8 as bytes_through
      from (
        select *, octet_length(content) + ${objectBytes(tx)} as bytes
        from ${someMessagesOf(tx, threadId, part)} as message where true ${part}
        -- Otherwise the size of a message would be found twice.
        offset 0
      ) as message
      window in_order as (${order} rows unbounded preceding)
    ) as message
    where place <= ${limit} and bytes_through - bytes < ${Math.min(bytesMax, PAGE_BYTES_MAX)}
    order by place`
  return {
    messages: rows.map((row) => toMessage(row, null)),
    hasMore: rows.length < (rows[0]?.found ?? 0),
    bytes: rows.at(-1)?.bytesThrough ?? 0,
  }
}
