import { type CompactionState, isCovered, type Message, type Position, positionOf } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { loadSharedRuns, someMessagesOf } from '../forks/lineage.js'
import { loadMessagesById } from '../messages/messages.js'
import { earlierPlaces, marksOf, shownOnce } from '../messages/shown-once.js'
import { type MessageRow, messageColumns, readMessages } from '../messages/stored-message.js'
import { loadPins, markPinned } from './pins.js'

/**
 * Messages that one read of a thread returns at most. Messages that a summary covers are not read, so only a thread that was
 * never compacted, or whose compaction is switched off, comes near it.
 */
export const CONVERSATION_MESSAGES_MAX = 20_000

/**
 * Selects the messages that the last clear left in a thread: those with a `seq` above the head at the clear and a time after
 * the clear. All queries here sort by `ordered_at, ordinal, id`, the order of `comparePositions` in core.
 */
export interface Cleared {
  readonly threadId: string
  /** The thread's head at the last clear; 0 without one. */
  readonly clearedSeq: number
  /** When the agent was last cleared, in milliseconds since 1970; null if it never was. Default null. */
  readonly lastClearedAtMs?: number | null
}

export interface UncoveredQuery extends Cleared {
  readonly state: CompactionState | null
  /** Which of the messages after the covered range to read if there are more than `limit`. */
  readonly keep: 'oldest' | 'newest'
  readonly limit?: number
}

export interface Uncovered {
  /** In no order. */
  readonly messages: Message[]
  /** Whether there are more messages after the covered range, or more that came late, than were read. */
  readonly hasMore: boolean
}

/**
 * Reads the messages that a state's summary does not cover: those kept at the top, those after the covered range, and those
 * that came late. The cost does not depend on how many messages are covered.
 */
export async function loadUncovered(tx: Tx, query: UncoveredQuery): Promise<Uncovered> {
  const { threadId, state, limit = CONVERSATION_MESSAGES_MAX } = query
  const to = state?.covered?.to ?? null
  await loadSharedRuns(tx, threadId)
  const [tail, kept, late] = await Promise.all([
    loadTail(tx, query, to, limit + 1),
    state === null || to === null ? [] : loadMessagesById(tx, { threadId, ids: state.topIds }),
    state === null || to === null ? [] : loadLate(tx, query, { headSeq: state.headSeq, to, limit: limit + 1 }),
  ])
  const hasMore = tail.length > limit || late.length > limit
  const read = [...kept, ...late.slice(0, limit), ...tail.slice(0, limit)]
  return { messages: shownOnce([...new Map(read.map((message) => [message.id, message])).values()]), hasMore }
}

async function loadTail(tx: Tx, query: UncoveredQuery, to: Position | null, limit: number): Promise<Message[]> {
  const { threadId, keep } = query
  const direction = keep === 'oldest' ? tx`asc` : tx`desc`
  const part = tx`
    and ${afterClear(tx, query)}
    and ${to === null ? tx`true` : tx`(message.ordered_at, message.ordinal, message.id) > (${to.orderedAtMs}, ${to.ordinal}, ${to.id})`}
    order by message.ordered_at ${direction}, message.ordinal ${direction}, message.id ${direction}
    limit ${limit}`
  const rows = await tx<MessageRow[]>`
    select ${messageColumns(tx)} from ${someMessagesOf(tx, threadId, part)} as message where true ${part}`
  return await readMessages(tx, threadId, rows)
}

/** Omitted if nothing was cleared: without statistics the planner would read the whole thread by this condition, and sort. */
function afterClear(tx: Tx, { clearedSeq, lastClearedAtMs = null }: Cleared) {
  const bySeq = clearedSeq === 0 ? tx`true` : tx`message.seq > ${clearedSeq}`
  return lastClearedAtMs === null ? bySeq : tx`${bySeq} and message.ordered_at > ${lastClearedAtMs}`
}

/**
 * Messages that were stored after the state was created but sort at or before the end of its covered range, in the order of
 * storing.
 */
async function loadLate(
  tx: Tx,
  thread: Cleared,
  { headSeq, to, limit }: { headSeq: number; to: Position; limit: number },
): Promise<Message[]> {
  const part = tx`
    and message.seq > ${headSeq} and ${afterClear(tx, thread)}
    and (message.ordered_at, message.ordinal, message.id) <= (${to.orderedAtMs}, ${to.ordinal}, ${to.id})
    order by message.seq
    limit ${limit}`
  const rows = await tx<MessageRow[]>`
    select ${messageColumns(tx)} from ${someMessagesOf(tx, thread.threadId, part)} as message where true ${part}`
  return await readMessages(tx, thread.threadId, rows)
}

export interface CoveredQuery extends Cleared {
  readonly state: CompactionState
  readonly limit: number
  /** Only messages before this position; null: from the end of the range. Default null. */
  readonly before?: Position | null
}

export interface CoveredPage {
  /** Oldest first. */
  readonly messages: Message[]
  /** Where the next page continues; null on the last page. */
  readonly next: Position | null
}

/**
 * Reads the raw messages that a state's summary covers, in pages from the end of the range to its beginning.
 * A message that a restore shows again at a later position is omitted here.
 */
export async function loadCoveredPage(tx: Tx, query: CoveredQuery): Promise<CoveredPage> {
  const { threadId, clearedSeq, state, limit, before = null } = query
  if (state.covered === null) return { messages: [], next: null }
  await loadSharedRuns(tx, threadId)
  const { from, to } = state.covered
  const part = tx`
      -- Adding 0 keeps the planner from the index on seq: rows are read in conversation order, and these two
      -- conditions drop the few that came late.
      and message.seq + 0 > ${clearedSeq} and message.seq + 0 <= ${state.headSeq}
      and message.seq not in (${earlierPlaces(tx, threadId, afterClear(tx, query))})
      and (message.ordered_at, message.ordinal, message.id) >= (${from.orderedAtMs}, ${from.ordinal}, ${from.id})
      and ${
        before === null
          ? tx`(message.ordered_at, message.ordinal, message.id) <= (${to.orderedAtMs}, ${to.ordinal}, ${to.id})`
          : tx`(message.ordered_at, message.ordinal, message.id) < (${before.orderedAtMs}, ${before.ordinal}, ${before.id})`
      }
    order by message.ordered_at desc, message.ordinal desc, message.id desc
    limit ${limit}`
  const rows = await tx<MessageRow[]>`
    with ${marksOf(tx, threadId)}
    select ${messageColumns(tx)} from ${someMessagesOf(tx, threadId, part)} as message where true ${part}`
  const messages = (await readWithPins(tx, threadId, rows)).reverse()
  const [oldest] = messages
  return {
    messages: messages.filter((message) => isCovered(message, state)),
    next: oldest === undefined || messages.length < limit ? null : positionOf(oldest),
  }
}

/**
 * Reads some of the messages that a state's summary covers, oldest first.
 *
 * @param query.after the message after which to begin; null for the first
 * @returns those of the next `limit` messages that are covered, and the last message read; null if there are no more
 */
export async function loadCoveredAfter(
  tx: Tx,
  query: Omit<CoveredQuery, 'before'> & { readonly after: Position | null },
): Promise<CoveredPage> {
  const { threadId, clearedSeq, state, limit, after } = query
  if (state.covered === null) return { messages: [], next: null }
  await loadSharedRuns(tx, threadId)
  const { from, to } = state.covered
  const place = tx`(message.ordered_at, message.ordinal, message.id)`
  const part = tx`
      -- Adding 0 keeps the planner from the index on seq, as in loadCoveredPage.
      and message.seq + 0 > ${clearedSeq} and message.seq + 0 <= ${state.headSeq}
      and message.seq not in (${earlierPlaces(tx, threadId, afterClear(tx, query))})
      and ${
        after === null
          ? tx`${place} >= (${from.orderedAtMs}, ${from.ordinal}, ${from.id})`
          : tx`${place} > (${after.orderedAtMs}, ${after.ordinal}, ${after.id})`
      }
      and ${place} <= (${to.orderedAtMs}, ${to.ordinal}, ${to.id})
    order by message.ordered_at, message.ordinal, message.id
    limit ${limit}`
  const rows = await tx<MessageRow[]>`
    with ${marksOf(tx, threadId)}
    select ${messageColumns(tx)} from ${someMessagesOf(tx, threadId, part)} as message where true ${part}`
  const messages = await readWithPins(tx, threadId, rows)
  const last = messages.at(-1)
  return {
    messages: messages.filter((message) => isCovered(message, state)),
    next: messages.length === limit && last ? positionOf(last) : null,
  }
}

/** Covered messages with their pins as they are now: one that was taken back is no longer a fact that a summary must hold. */
async function readWithPins(tx: Tx, threadId: string, rows: readonly MessageRow[]): Promise<Message[]> {
  const [messages, pins] = await Promise.all([readMessages(tx, threadId, rows), loadPins(tx, threadId)])
  return [...markPinned(messages, pins)]
}
