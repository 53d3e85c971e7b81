import type { Position } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'

/** One compaction of a thread in one lane. */
export interface ContextStateRow extends Omit<StoredState, PositionColumn | 'topIds'> {
  /** The newest message that the compaction took into account. */
  readonly point: Position
  readonly topIds: readonly string[]
  /** The covered range, both ends included; null before the first summary. */
  readonly coveredFrom: Position | null
  readonly coveredTo: Position | null
}

type StoredState = Columns<
  'contextStates',
  | 'id'
  | 'threadId'
  | 'lane'
  | 'strategy'
  | 'clearEpoch'
  | 'generation'
  | 'replaces'
  | 'status'
  | 'headSeq'
  | 'topIds'
  | 'coveredCount'
  | 'coveredTokens'
  | 'summary'
  | 'summaryTokens'
  | 'summarizer'
  | 'createdAtMs'
  | 'readyAtMs'
  | PositionColumn
>

type PositionColumn = `${'point' | 'coveredFrom' | 'coveredTo'}${'AtMs' | 'Ordinal' | 'Id'}`

export type LaneOfThread = Columns<'contextStates', 'threadId' | 'lane' | 'clearEpoch'>

/**
 * The latest state of a lane and, if that one waits for its summary, the latest that has one; newest first. Nothing else of a
 * long series is read.
 */
export async function loadLatestStates(
  tx: Tx,
  { threadId, lane, clearEpoch }: LaneOfThread,
): Promise<ContextStateRow[]> {
  const rows = await tx<StoredState[]>`
    (${selectStates(tx)}
     where thread_id = ${threadId} and lane = ${lane} and clear_epoch = ${clearEpoch} and status <> 'void'
     order by generation desc limit 1)
    union all
    (${selectStates(tx)}
     where thread_id = ${threadId} and lane = ${lane} and clear_epoch = ${clearEpoch} and status = 'ready'
     order by generation desc limit 1)
    order by generation desc`
  return rows.map(toState)
}

/** A state of a thread by its id, also one that is void. */
export async function loadState(
  tx: Tx,
  { threadId, id }: { threadId: string; id: string },
): Promise<ContextStateRow | null> {
  const [row] = await tx<StoredState[]>`${selectStates(tx)} where thread_id = ${threadId} and id = ${id}`
  return row === undefined ? null : toState(row)
}

/** The latest states of a lane, newest last, for an overview of a thread. */
export async function listStates(
  tx: Tx,
  { threadId, lane, clearEpoch, limit }: LaneOfThread & { limit: number },
): Promise<ContextStateRow[]> {
  const rows = await tx<StoredState[]>`
    ${selectStates(tx)}
    where thread_id = ${threadId} and lane = ${lane} and clear_epoch = ${clearEpoch} and status <> 'void'
    order by generation desc
    limit ${limit}`
  return rows.map(toState).reverse()
}

/**
 * Finds the first state that a late message makes void: it read the thread before the message was stored (`head_seq < seq`),
 * but compacted past the message's position in the conversation. Returns its generation.
 */
export async function findOvertaken(
  tx: Tx,
  { threadId, lane, clearEpoch, seq, position }: LaneOfThread & { seq: number; position: Position },
): Promise<number | null> {
  const [found] = await tx<{ generation: number | null }[]>`
    select min(generation) as generation
    from heddle.context_states
    where thread_id = ${threadId} and lane = ${lane} and clear_epoch = ${clearEpoch} and status <> 'void'
      and head_seq < ${seq}
      and (point_at, point_ordinal, point_id) >= (${position.orderedAtMs}, ${position.ordinal}, ${position.id})`
  return found?.generation ?? null
}

function selectStates(tx: Tx) {
  return tx`
    select
      id, thread_id, lane, strategy, clear_epoch, generation, replaces, status,
      point_at as point_at_ms, point_ordinal, point_id, head_seq, to_json(top_ids) as top_ids,
      covered_from_at as covered_from_at_ms, covered_from_ordinal, covered_from_id,
      covered_to_at as covered_to_at_ms, covered_to_ordinal, covered_to_id,
      covered_count, covered_tokens, summary, summary_tokens, summarizer,
      created_at as created_at_ms, ready_at as ready_at_ms
    from heddle.context_states`
}

function toState(row: StoredState): ContextStateRow {
  const { pointAtMs, pointOrdinal, pointId, coveredFromAtMs, coveredFromOrdinal, coveredFromId, ...rest } = row
  const { coveredToAtMs, coveredToOrdinal, coveredToId, ...state } = rest
  return {
    ...state,
    point: { orderedAtMs: pointAtMs, ordinal: pointOrdinal, id: pointId },
    coveredFrom: toPosition(coveredFromAtMs, coveredFromOrdinal, coveredFromId),
    coveredTo: toPosition(coveredToAtMs, coveredToOrdinal, coveredToId),
  }
}

function toPosition(orderedAtMs: number | null, ordinal: number | null, id: string | null): Position | null {
  return orderedAtMs === null || ordinal === null || id === null ? null : { orderedAtMs, ordinal, id }
}
