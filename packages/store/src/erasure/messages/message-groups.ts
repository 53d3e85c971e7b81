import type { ToolCall } from '@heddle/contracts'
import type { Position } from '@heddle/core'
import type { Tx } from '../../connection/connection.js'
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
  const wanted = new Map<number, ErasableRow>()
  const add = (row: ErasableRow) => wanted.set(row.seq, row)
  const selected = await loadRows(tx, threadId, seqs)
  for (const row of selected) add(row)
  const firstCalls = new Map(
    selected.toReversed().flatMap(({ seq, callIds }) => callIds.map((id) => [id, seq] as const)),
  )
  const lastResults = new Map(selected.map(({ seq, toolCallId }) => [toolCallId, seq] as const))
  for (const result of selected) {
    if (result.toolCallId === null || (firstCalls.get(result.toolCallId) ?? result.seq) < result.seq) continue
    const caller = await findCaller(tx, threadId, result)
    if (caller !== null) add(caller)
  }
  for (const caller of [...wanted.values()]) {
    if (caller.callIds.every((id) => (lastResults.get(id) ?? 0) > caller.seq)) continue
    for (const result of await findResults(tx, threadId, caller)) add(result)
  }
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
      select ${columns(tx)} from heddle.messages
      where messages.thread_id = ${threadId} and ${byKey(tx, tx`messages.seq`, tx`given.seq`)}) as found
    order by found.seq`
  return rows.map(toRow)
}

/** The latest message before a result that made its call. */
async function findCaller(tx: Tx, threadId: string, result: ErasableRow): Promise<ErasableRow | null> {
  for await (const row of neighbours(tx, threadId, result, 'before')) {
    if (result.toolCallId !== null && row.callIds.includes(result.toolCallId)) return row
  }
  return null
}

/** The results of a message's calls: the first of each after it, unless another message made a call of that id before. */
async function findResults(tx: Tx, threadId: string, caller: ErasableRow): Promise<ErasableRow[]> {
  const open = new Set(caller.callIds)
  const results: ErasableRow[] = []
  if (open.size === 0) return results
  for await (const row of neighbours(tx, threadId, caller, 'after')) {
    for (const id of row.callIds) open.delete(id)
    if (row.toolCallId !== null && open.has(row.toolCallId)) results.push(row)
    if (row.toolCallId !== null) open.delete(row.toolCallId)
    if (open.size === 0) break
  }
  return results
}

/** Messages around one, nearest first, in conversation order. */
async function* neighbours(
  tx: Tx,
  threadId: string,
  from: Position,
  side: 'before' | 'after',
): AsyncGenerator<ErasableRow> {
  const [than, direction] = side === 'before' ? [tx`<`, tx`desc`] : [tx`>`, tx`asc`]
  let at = from
  for (let read = 0; read < DISTANCE_MAX; read += PAGE) {
    const [, rows] = await Promise.all([
      byIndexOrder(tx),
      tx<Row[]>`
        select ${columns(tx)} from heddle.messages
        where thread_id = ${threadId} and restores_seq is null
          and (ordered_at, ordinal, id) ${than} (${at.orderedAtMs}, ${at.ordinal}, ${at.id})
        order by ordered_at ${direction}, ordinal ${direction}, id ${direction}
        limit ${PAGE}`,
    ])
    for (const row of rows) yield toRow(row)
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    at = last
  }
}
