import type { ToolCall } from '@heddle/contracts'
import type { Position } from '@heddle/core'
import type { Tx } from '../../connection/connection.js'
import { loadSharedRuns, messageAt, someMessagesOf } from '../../forks/lineage.js'
import type { Columns } from '../../schema/rows.js'
import { asArray } from '../../sql/arrays.js'
import { byIndexOrder, byKey } from '../../sql/index-order.js'

/** A stored message to be erased, without its content: there may be thousands, each of megabytes. */
export interface ErasableRow
  extends Columns<'messages', 'seq' | 'id' | 'role' | 'keptAside' | 'orderedAtMs' | 'ordinal' | 'toolCallId'> {
  readonly callIds: readonly string[]
}

type Row = Omit<ErasableRow, 'callIds'> & { readonly toolCalls: ToolCall[] | null }

/** Messages between a call and its result: a result that is further away is taken for one of another call. */
const DISTANCE_MAX = 2_000
const PAGE = 200

/**
 * The messages at some sequence numbers, with the calls and the results that belong to them: a provider accepts a call and its
 * results together or not at all. In the order of their numbers.
 */
export async function withGroups(tx: Tx, threadId: string, seqs: readonly number[]): Promise<ErasableRow[]> {
  await loadSharedRuns(tx, threadId)
  const wanted = new Map<number, ErasableRow>()
  const selected = await loadRows(tx, threadId, seqs)
  for (const row of selected) wanted.set(row.seq, row)
  for (const caller of await findCallers(tx, threadId, selected)) wanted.set(caller.seq, caller)
  for (const result of await findResults(tx, threadId, [...wanted.values()])) wanted.set(result.seq, result)
  return [...wanted.values()].sort((left, right) => left.seq - right.seq)
}

const columns = (tx: Tx) => tx`
  seq, id, role, kept_aside, ordered_at as ordered_at_ms, ordinal, tool_call_id, tool_calls`

function toRow({ toolCalls, ...row }: Row): ErasableRow {
  return { ...row, callIds: (toolCalls ?? []).map(({ id }) => id) }
}

async function loadRows(tx: Tx, threadId: string, seqs: readonly number[]): Promise<ErasableRow[]> {
  const rows = await tx<Row[]>`
    select found.* from unnest(${asArray(seqs)}::bigint[]) as given (seq)
    cross join lateral (
      select ${columns(tx)} from ${messageAt(tx, threadId, tx`given.seq`)} as messages
      where ${byKey(tx, tx`messages.seq`, tx`given.seq`)}) as found
    order by found.seq`
  return rows.map(toRow)
}

/** For each of some results the latest message before it that made its call. */
async function findCallers(tx: Tx, threadId: string, results: readonly ErasableRow[]): Promise<ErasableRow[]> {
  const callers: ErasableRow[] = []
  await search(tx, threadId, results, {
    side: 'before',
    idsOf: ({ toolCallId }) => (toolCallId === null ? [] : [toolCallId]),
    visit(row, open) {
      const made = row.callIds.filter((id) => open.has(id))
      if (made.length > 0) callers.push(row)
      return made
    },
  })
  return callers
}

/** The results of the calls of some messages: the first of each after it, unless another message made a call of that id before. */
async function findResults(tx: Tx, threadId: string, callers: readonly ErasableRow[]): Promise<ErasableRow[]> {
  const results: ErasableRow[] = []
  await search(tx, threadId, callers, {
    side: 'after',
    idsOf: ({ callIds }) => callIds,
    visit(row, open) {
      const { callIds, toolCallId } = row
      if (toolCallId === null) return callIds
      if (open.has(toolCallId) && !callIds.includes(toolCallId)) results.push(row)
      return [...callIds, toolCallId]
    },
  })
  return results
}

interface Search {
  /** Where the messages that are looked for are. */
  readonly side: 'before' | 'after'
  /** The ids of calls that a message looks for. */
  idsOf(from: ErasableRow): readonly string[]
  /** @returns the ids that need not be looked for any more */
  visit(row: ErasableRow, open: ReadonlyMap<string, number>): readonly string[]
}

/**
 * Reads the messages around some others, each once, however many of these look for a call or a result there. Parts of the
 * thread in which none of them does are not read.
 */
async function search(
  tx: Tx,
  threadId: string,
  from: readonly ErasableRow[],
  { side, idsOf, visit }: Search,
): Promise<void> {
  const sign = side === 'before' ? -1 : 1
  const starts = from.filter((row) => idsOf(row).length > 0).sort((left, right) => sign * compare(left, right))
  const bySeq = new Map(starts.map((row) => [row.seq, row]))
  /** For each id how many messages have been read when its search ends, in the order of these ends. */
  const open = new Map<string, number>()
  let read = 0
  const begin = (row: ErasableRow) => {
    bySeq.delete(row.seq)
    for (const id of idsOf(row)) {
      open.delete(id)
      open.set(id, read + DISTANCE_MAX)
    }
  }
  for (const start of starts) {
    if (!bySeq.has(start.seq)) continue
    begin(start)
    for await (const row of neighbours(tx, threadId, start, side)) {
      read++
      for (const id of visit(row, open)) open.delete(id)
      if (bySeq.has(row.seq)) begin(row)
      for (const [id, end] of open) {
        if (end > read) break
        open.delete(id)
      }
      if (open.size === 0) break
    }
    open.clear()
  }
}

function compare(left: Position, right: Position): number {
  return left.orderedAtMs - right.orderedAtMs || left.ordinal - right.ordinal || (left.id < right.id ? -1 : 1)
}

/** The messages before or after one, nearest first, in conversation order. */
async function* neighbours(
  tx: Tx,
  threadId: string,
  from: Position,
  side: 'before' | 'after',
): AsyncGenerator<ErasableRow> {
  const [than, direction] = side === 'before' ? [tx`<`, tx`desc`] : [tx`>`, tx`asc`]
  let at = from
  for (;;) {
    const part = tx`
      and restores_seq is null and (ordered_at, ordinal, id) ${than} (${at.orderedAtMs}, ${at.ordinal}, ${at.id})
      order by ordered_at ${direction}, ordinal ${direction}, id ${direction}
      limit ${PAGE}`
    const [, rows] = await Promise.all([
      byIndexOrder(tx),
      tx<Row[]>`
        select ${columns(tx)} from ${someMessagesOf(tx, threadId, part)} as message where true ${part}`,
    ])
    for (const row of rows) yield toRow(row)
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    at = last
  }
}
