import type { Message, Position } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { loadSharedRuns, messageAt, messagesOf, someMessagesOf } from '../forks/lineage.js'
import type { Columns } from '../schema/rows.js'
import { byIndexOrder, byKey } from '../sql/index-order.js'
import { type MessageRow, messageColumns, toMessage, withOriginals } from './stored-message.js'

/** A message as a thread's history shows it. */
export interface HistoryMessage extends Message {
  /** The time that the client sent. */
  readonly sentAtMs: number | null
  readonly receivedAtMs: number
  readonly sourceId: string | null
  readonly metadata: Readonly<Record<string, unknown>> | null
  /** Whether the context that it answers is recorded: see `loadRequestContext`. */
  readonly hasRequestContext: boolean
  /** Its latest restoration. Only read for pages of a history. */
  readonly restored?: Restoration
}

/** A restoration of a message: its new position and the metadata of the mark. */
export interface Restoration {
  readonly seq: number
  readonly orderedAtMs: number
  readonly metadata: Readonly<Record<string, unknown>> | null
}

/** Bytes of the messages of one page of a history. A page has at least one message, whatever its size. */
export const PAGE_BYTES_MAX = 8_000_000

export interface HistoryQuery {
  readonly threadId: string
  /** The sequence number of the last message of the previous page. */
  readonly afterSeq?: number | undefined
  readonly limit: number
  readonly order: 'asc' | 'desc'
  /**
   * Whether restore marks are listed, too, each with the message that it shows. By default a message is listed once, at its
   * original position, with its latest restoration.
   */
  readonly withMarks?: boolean
}

export interface HistoryPage {
  readonly messages: HistoryMessage[]
  readonly hasMore: boolean
}

/**
 * A page of a thread's history in the order of the conversation, with every field, including messages that clears and windows
 * hide.
 *
 * @returns null if no message has the number `afterSeq`
 */
export async function listHistory(
  tx: Tx,
  { threadId, afterSeq, limit, order, withMarks = false }: HistoryQuery,
): Promise<HistoryPage | null> {
  await loadSharedRuns(tx, threadId)
  const [after] =
    afterSeq === undefined
      ? []
      : await tx<Position[]>`
        select ordered_at as ordered_at_ms, ordinal, id from ${messageAt(tx, threadId, tx`${afterSeq}`)} as message
        where ${byKey(tx, tx`seq`, tx`${afterSeq}`)}`
  if (after === undefined && afterSeq !== undefined) return null
  // The order of `comparePositions` in core.
  const direction = order === 'asc' ? tx`asc` : tx`desc`
  const past = order === 'asc' ? tx`>` : tx`<`
  const part = tx`
    and ${withMarks ? tx`true` : tx`restores_seq is null`}
    and ${after === undefined ? tx`true` : tx`(ordered_at, ordinal, id) ${past} (${after.orderedAtMs}, ${after.ordinal}, ${after.id})`}
    order by ordered_at ${direction}, ordinal ${direction}, id ${direction}
    limit ${limit + 1}`
  // The sizes are summed up first: a page of the largest messages would not fit into memory.
  const page = tx<(HistoryRow & { found: number })[]>`
    select ${historyColumns(tx)}, sized.found, ${withMarks ? tx`null::json` : latestRestoration(tx, threadId)} as restored
    from (
      select seq, found, place, sum(bytes) over (order by place rows unbounded preceding) - bytes as bytes_before
      from (
        select seq, found, place, bytes + ${objectBytes(tx)} as bytes
        from (
          select *, count(*) over () as found, row_number() over in_order as place,
            sum(bytes) over in_order - bytes as texts_before
          from (
            select seq, ordered_at, ordinal, id, parts, thinking, tool_calls, usage, metadata,
              ${withMarks ? shownBytes(tx, threadId) : tx`octet_length(content)`} as bytes
            from ${someMessagesOf(tx, threadId, part)} as message
            where true ${part}
          ) as candidate
          window in_order as (
            order by ordered_at ${direction}, ordinal ${direction}, id ${direction} rows unbounded preceding)
        ) as counted
        where place <= ${limit} and texts_before < ${PAGE_BYTES_MAX}
      ) as measured
    ) as sized
    cross join lateral (
      select * from ${messageAt(tx, threadId, tx`sized.seq`)} as messages
      where ${byKey(tx, tx`messages.seq`, tx`sized.seq`)}) as message
    where sized.bytes_before < ${PAGE_BYTES_MAX}
    order by sized.place`
  const [, rows] = await Promise.all([byIndexOrder(tx), page])
  return { messages: await readHistory(tx, threadId, rows), hasMore: rows.length < (rows[0]?.found ?? 0) }
}

/** The size of a message besides its content: calls, reasoning and metadata. */
export function objectBytes(tx: Tx) {
  return tx`(
    coalesce(octet_length(parts::text), 0) + coalesce(octet_length(thinking::text), 0)
    + coalesce(octet_length(tool_calls::text), 0) + coalesce(octet_length(usage::text), 0)
    + coalesce(octet_length(metadata::text), 0))`
}

/** The size of the content. A mark has none: that of its message counts. */
function shownBytes(tx: Tx, threadId: string) {
  return tx`
    case when restores_seq is null then octet_length(content) else coalesce((
      select octet_length(content) + ${objectBytes(tx)} from (
        select content, parts, thinking, tool_calls, usage, metadata from ${messageAt(tx, threadId, tx`message.restores_seq`)} as messages
        where ${byKey(tx, tx`messages.seq`, tx`message.restores_seq`)}) as original
    ), 0) end`
}

/** @param threadId if all messages are of one thread: only its partition is planned then */
export function latestRestoration(tx: Tx, threadId?: string) {
  return tx`(
    select json_build_object(
      'seq', mark.seq, 'orderedAtMs', floor(extract(epoch from mark.ordered_at) * 1000), 'metadata', mark.metadata)
    from ${threadId === undefined ? tx`heddle.messages` : messagesOf(tx, threadId)} as mark
    where ${threadId === undefined ? tx`mark.thread_id = message.thread_id` : tx`true`} and mark.restores_seq = message.seq
    order by mark.seq desc
    limit 1)`
}

export interface HistoryRow
  extends MessageRow,
    Columns<'messages', 'sentAtMs' | 'receivedAtMs' | 'sourceId' | 'metadata'> {
  readonly hasRequestContext: boolean
  readonly restored?: Restoration | null
}

/** The columns of a {@link HistoryRow}, for `select ... from heddle.messages as message`. */
export function historyColumns(tx: Tx) {
  return tx`
    ${messageColumns(tx)},
    message.sent_at as sent_at_ms, message.received_at as received_at_ms, message.source_id, message.metadata,
    message.context_id is not null and exists (
      select from heddle.context_items as shown
      where shown.context_id = message.context_id and shown.thread_id = message.thread_id) as has_request_context`
}

/** The messages of a thread's rows, as `readMessages` reads them, with every field. */
export async function readHistory(tx: Tx, threadId: string, rows: readonly HistoryRow[]): Promise<HistoryMessage[]> {
  const read = await withOriginals(tx, threadId, rows, historyColumns(tx))
  return read.map(({ row, original }) => toHistoryMessage(row, original))
}

/** @param original for a mark: the message that it shows */
export function toHistoryMessage(row: HistoryRow, original: HistoryRow | null): HistoryMessage {
  const { sourceId, metadata, hasRequestContext } = original ?? row
  const { sentAtMs, receivedAtMs, restored } = row
  const message = { ...toMessage(row, original), sentAtMs, receivedAtMs, sourceId, metadata, hasRequestContext }
  return restored == null ? message : { ...message, restored }
}
