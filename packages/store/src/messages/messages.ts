import type { ToolCall } from '@heddle/contracts'
import type { Message, Position } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { findSharedRuns, loadSharedRuns, messageOf, messagesOf, someMessagesOf } from '../forks/lineage.js'
import type { Columns } from '../schema/rows.js'
import { byId, givenIds } from '../sql/by-id.js'
import { type HistoryMessage, type HistoryRow, historyColumns, readHistory } from './history.js'
import { type MessageRow, messageColumns, readMessages } from './stored-message.js'

interface Page {
  readonly threadId: string
  /** The sequence number with which the page before ended; 0 for the first. */
  readonly afterSeq: number
  readonly limit: number
}

/** Messages in the order of storing: what a stage works through from its cursor. */
export async function loadMessagesBySeq(tx: Tx, { threadId, afterSeq, limit }: Page): Promise<Message[]> {
  await loadSharedRuns(tx, threadId)
  const part = tx`and message.seq > ${afterSeq} order by message.seq limit ${limit}`
  const rows = await tx<MessageRow[]>`
    select ${messageColumns(tx)} from ${someMessagesOf(tx, threadId, part)} as message where true ${part}`
  return await readMessages(tx, threadId, rows)
}

/** Messages that people sent, in the order of storing: neither what was kept aside nor what a restore brought back. */
export async function loadUserMessages(
  tx: Tx,
  { threadId, afterSeq, toSeq, limit }: Page & { readonly toSeq: number },
): Promise<Message[]> {
  await loadSharedRuns(tx, threadId)
  const part = tx`
    and message.seq > ${afterSeq} and message.seq <= ${toSeq} and message.role = 'user' and message.kept_aside is null
    and message.restores_seq is null
    order by message.seq limit ${limit}`
  const rows = await tx<MessageRow[]>`
    select ${messageColumns(tx)} from ${someMessagesOf(tx, threadId, part)} as message where true ${part}`
  return await readMessages(tx, threadId, rows)
}

/** A page of a thread's history, in the order of storing, with every field. */
export async function listMessages(tx: Tx, { threadId, afterSeq, limit }: Page): Promise<HistoryMessage[]> {
  await loadSharedRuns(tx, threadId)
  const part = tx`and message.seq > ${afterSeq} order by message.seq limit ${limit}`
  const rows = await tx<HistoryRow[]>`
    select ${historyColumns(tx)} from ${someMessagesOf(tx, threadId, part)} as message where true ${part}`
  return await readHistory(tx, threadId, rows)
}

/**
 * One message. A mark that a restore left is not a message of its own: its id and code lead to the message that it brings
 * back.
 *
 * @returns null where the thread has no such message
 */
export async function loadMessage(
  tx: Tx,
  { threadId, ...name }: { threadId: string } & ({ id: string } | { code: string }),
): Promise<HistoryMessage | null> {
  const [row] =
    'id' in name
      ? await tx<HistoryRow[]>`
          select ${historyColumns(tx)}
          from ${givenIds(tx, [name.id])}
          cross join lateral (
            select * from ${messageOf(tx, threadId)} as messages where ${byId(tx, tx`messages`)}) as message`
      : await tx<HistoryRow[]>`
          select ${historyColumns(tx)}
          from ${messagesOf(tx, threadId)} as message
          where message.code = ${name.code}`
  if (row === undefined) return null
  const [message] = await readHistory(tx, threadId, [row])
  return message?.restores === undefined
    ? (message ?? null)
    : await loadMessage(tx, { threadId, id: message.restores.id })
}

/** Messages of a thread by their ids, in no order; ids that are not there are left out. */
export async function loadMessagesById(
  tx: Tx,
  { threadId, ids }: { threadId: string; ids: readonly string[] },
): Promise<Message[]> {
  const rows = await tx<MessageRow[]>`
    select ${messageColumns(tx)}
    from ${givenIds(tx, ids)}
    cross join lateral (
      select * from ${messageOf(tx, threadId)} as messages
      where ${byId(tx, tx`messages`)}) as message`
  return await readMessages(tx, threadId, rows)
}

/**
 * The calls that the messages of a range made, by their ids.
 *
 * @param fromSeq the first message, `toSeq` the last
 */
export async function loadCalls(
  tx: Tx,
  { threadId, fromSeq, toSeq }: { threadId: string; fromSeq: number; toSeq: number },
): Promise<Map<string, ToolCall>> {
  const rows = await tx<{ toolCalls: ToolCall[] }[]>`
    select tool_calls from ${messagesOf(tx, threadId)} as message
    where seq between ${fromSeq} and ${toSeq} and tool_calls is not null
    order by seq`
  return new Map(rows.flatMap(({ toolCalls }) => toolCalls.map((call) => [call.id, call])))
}

/** The fingerprints of those of `ids` that the thread holds. */
export async function existingMessages(
  tx: Tx,
  { threadId, ids }: { threadId: string; ids: readonly string[] },
): Promise<Map<string, string>> {
  // A producer that is ahead of the workers asks this of many threads that are not created yet.
  if ((await findSharedRuns(tx, threadId)) === null) return new Map()
  const rows = await tx<{ id: string; fingerprint: string }[]>`
    select found.id, encode(found.fingerprint, 'hex') as fingerprint
    from ${givenIds(tx, ids)}
    -- Lateral with an offset: one look-up for each id. A planner without statistics would go through the whole thread.
    cross join lateral (
      select id, fingerprint from ${messageOf(tx, threadId)} as messages
      where ${byId(tx, tx`messages`)}) as found
    where not exists (select from heddle.tombstones where target_id = ${threadId})`
  return new Map(rows.map(({ id, fingerprint }) => [id, fingerprint]))
}

/** The last message of a conversation; null before the first. */
export async function loadLastMessage(
  tx: Tx,
  { threadId }: { readonly threadId: string },
): Promise<(Position & Columns<'messages', 'code'>) | null> {
  await loadSharedRuns(tx, threadId)
  const last = tx`order by ordered_at desc, ordinal desc, id desc limit 1`
  const [row] = await tx<(Position & Columns<'messages', 'code'>)[]>`
    select id, code, ordered_at as ordered_at_ms, ordinal
    from ${someMessagesOf(tx, threadId, last)} as message where true ${last}`
  return row ?? null
}
