import type { Position } from '@heddle/core'
import { asArray } from './arrays.js'
import type { Tx } from './connection.js'
import { toStorable } from './text.js'

/** One compaction of a thread in one lane. */
export interface ContextStateRow {
  readonly id: string
  readonly threadId: string
  /** The strategy with its settings; states of different lanes do not undo each other. */
  readonly lane: string
  readonly strategy: string
  readonly clearEpoch: number
  /** Place in its series, from 1. */
  readonly generation: number
  /** The state that this one was built on; null for the first of a series. */
  readonly replaces: string | null
  /** `passed`: a later compaction came before it had its summary; its prunings hold all the same. */
  readonly status: 'pending' | 'passed' | 'ready' | 'void'
  /** The newest message that the compaction took into account. */
  readonly point: Position
  /** The thread's head that the compaction saw. */
  readonly headSeq: number
  readonly topIds: readonly string[]
  /** The covered range, both ends included; null before the first summary. */
  readonly coveredFrom: Position | null
  readonly coveredTo: Position | null
  readonly coveredCount: number
  readonly coveredTokens: number
  readonly summary: string | null
  readonly summaryTokens: number
  readonly summarizer: string | null
  readonly createdAtMs: number
  readonly readyAtMs: number | null
}

export interface LaneOfThread {
  readonly threadId: string
  readonly lane: string
  readonly clearEpoch: number
}

/** The series of a lane since a clear, by generation, without what is void. */
export async function loadStates(tx: Tx, { threadId, lane, clearEpoch }: LaneOfThread): Promise<ContextStateRow[]> {
  const rows = await tx<StoredState[]>`
    ${selectStates(tx)}
    where thread_id = ${threadId} and lane = ${lane} and clear_epoch = ${clearEpoch} and status <> 'void'
    order by generation`
  return rows.map(toState)
}

/**
 * The latest state of a lane and, where that one still waits for its summary, the latest that has one; newest first. Of a
 * long series nothing else is read.
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

/** The latest states of a lane, newest last, for people who look at a thread. */
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

/** The generation of the first state that a message overtook: it did not see it, and its point lies behind it. */
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

/**
 * The compactions of a thread that wait for their summaries, in the order in which they are to be summarized.
 */
export async function loadPendingStates(
  tx: Tx,
  { threadId, clearEpoch }: { threadId: string; clearEpoch: number },
): Promise<ContextStateRow[]> {
  const rows = await tx<StoredState[]>`
    ${selectStates(tx)}
    where thread_id = ${threadId} and status = 'pending' and clear_epoch = ${clearEpoch}
    order by lane, generation`
  return rows.map(toState)
}

/** @returns null where there is no such state */
export async function loadState(tx: Tx, { id }: { id: string }): Promise<ContextStateRow | null> {
  const [row] = await tx<StoredState[]>`${selectStates(tx)} where id = ${id}`
  return row === undefined ? null : toState(row)
}

export type NewContextState = Omit<ContextStateRow, 'createdAtMs' | 'readyAtMs'>

/**
 * Publishes a state by compare-and-set.
 *
 * Invariant: the agent's row is held until the commit, so a clear comes either before, and the state is refused, or after,
 * and the state belongs to the epoch that ended (DESIGN: a clear wins). The state that it replaces is held likewise.
 *
 * @returns false where the agent was cleared, the replaced state is void, or the generation is taken
 */
export async function insertState(tx: Tx, state: NewContextState): Promise<boolean> {
  const { count } = await tx`
    with agent as (
      select clear_epoch from heddle.agents
      where id = (select agent_id from heddle.threads where id = ${state.threadId})
      for share
    ),
    replaced as (
      select id from heddle.context_states
      where id = ${state.replaces} and status <> 'void'
      for update
    ),
    passed as (
      update heddle.context_states set status = 'passed'
      where id in (select id from replaced) and status = 'pending' and exists (select from agent where clear_epoch = ${state.clearEpoch})
    )
    insert into heddle.context_states (
      id, thread_id, lane, strategy, clear_epoch, generation, replaces, status,
      point_at, point_ordinal, point_id, head_seq, top_ids,
      covered_from_at, covered_from_ordinal, covered_from_id, covered_to_at, covered_to_ordinal, covered_to_id,
      covered_count, covered_tokens, summary, summary_tokens, summarizer, ready_at)
    select
      ${state.id}, ${state.threadId}, ${state.lane}, ${state.strategy}, ${state.clearEpoch}, ${state.generation},
      ${state.replaces}, ${state.status},
      ${state.point.orderedAtMs}, ${state.point.ordinal}, ${state.point.id}, ${state.headSeq}, ${asArray(state.topIds)}::uuid[],
      ${state.coveredFrom?.orderedAtMs ?? null}, ${state.coveredFrom?.ordinal ?? null}, ${state.coveredFrom?.id ?? null},
      ${state.coveredTo?.orderedAtMs ?? null}, ${state.coveredTo?.ordinal ?? null}, ${state.coveredTo?.id ?? null},
      ${state.coveredCount}, ${state.coveredTokens},
      ${state.summary === null ? null : toStorable(state.summary)}, ${state.summaryTokens}, ${state.summarizer},
      ${state.status === 'ready' ? tx`now()` : null}
    from agent
    where agent.clear_epoch = ${state.clearEpoch}
      and (${state.replaces}::uuid is null or exists (select from replaced))
    on conflict (thread_id, lane, clear_epoch, generation) where status <> 'void' do nothing`
  return count === 1
}

export interface PublishedSummary {
  readonly stateId: string
  readonly clearEpoch: number
  readonly summary: string
  readonly summaryTokens: number
  /** The name of the summarizer that wrote it. */
  readonly summarizer: string
}

/**
 * Gives a pending state its summary, which puts it in force.
 *
 * A state that a later one has passed by may still get it: until that one has its own, this one serves.
 *
 * @returns false where the agent was cleared since, or the state is void or has a summary
 */
export async function publishSummary(tx: Tx, published: PublishedSummary): Promise<boolean> {
  const { count } = await tx`
    with agent as (
      select clear_epoch from heddle.agents
      where id = (
        select thread.agent_id from heddle.context_states as state
        join heddle.threads as thread on thread.id = state.thread_id
        where state.id = ${published.stateId})
      for share
    )
    update heddle.context_states as state
    set
      status = 'ready', ready_at = now(), summary = ${toStorable(published.summary)},
      summary_tokens = ${published.summaryTokens}, summarizer = ${published.summarizer}
    from agent
    where state.id = ${published.stateId} and state.status in ('pending', 'passed')
      and state.clear_epoch = ${published.clearEpoch} and agent.clear_epoch = ${published.clearEpoch}`
  return count === 1
}

/**
 * Makes the states of a series void from a generation on: a late message overtook them. They stay for those who ask what
 * an earlier context was made of.
 *
 * @returns how many became void
 */
export async function voidStates(
  tx: Tx,
  { threadId, lane, clearEpoch, fromGeneration }: LaneOfThread & { fromGeneration: number },
): Promise<number> {
  const series = tx`
    thread_id = ${threadId} and lane = ${lane} and clear_epoch = ${clearEpoch} and generation >= ${fromGeneration}
    and status <> 'void'`
  // The lock waits for a state that is being built on one of these; the second statement then sees it, too.
  const [, { count }] = await Promise.all([
    tx`select id from heddle.context_states where ${series} order by generation for update`,
    tx`update heddle.context_states set status = 'void' where ${series}`,
  ])
  return count
}

type StoredState = Omit<ContextStateRow, 'point' | 'coveredFrom' | 'coveredTo'> & {
  readonly pointAt: number
  readonly pointOrdinal: number
  readonly pointId: string
  readonly coveredFromAt: number | null
  readonly coveredFromOrdinal: number | null
  readonly coveredFromId: string | null
  readonly coveredToAt: number | null
  readonly coveredToOrdinal: number | null
  readonly coveredToId: string | null
}

function selectStates(tx: Tx) {
  return tx`
    select
      id, thread_id, lane, strategy, clear_epoch, generation, replaces, status,
      point_at, point_ordinal, point_id, head_seq, to_json(top_ids) as top_ids,
      covered_from_at, covered_from_ordinal, covered_from_id, covered_to_at, covered_to_ordinal, covered_to_id,
      covered_count, covered_tokens, summary, summary_tokens, summarizer,
      created_at as created_at_ms, ready_at as ready_at_ms
    from heddle.context_states`
}

function toState(row: StoredState): ContextStateRow {
  const { pointAt, pointOrdinal, pointId, coveredFromAt, coveredFromOrdinal, coveredFromId, ...rest } = row
  const { coveredToAt, coveredToOrdinal, coveredToId, ...state } = rest
  return {
    ...state,
    point: { orderedAtMs: pointAt, ordinal: pointOrdinal, id: pointId },
    coveredFrom: toPosition(coveredFromAt, coveredFromOrdinal, coveredFromId),
    coveredTo: toPosition(coveredToAt, coveredToOrdinal, coveredToId),
  }
}

function toPosition(orderedAtMs: number | null, ordinal: number | null, id: string | null): Position | null {
  return orderedAtMs === null || ordinal === null || id === null ? null : { orderedAtMs, ordinal, id }
}
