import type { Ledger } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { holdThread } from '../messages/tombstones.js'
import { asArray } from '../sql/arrays.js'
import { toStorable } from '../sql/text.js'
import type { ContextStateRow, LaneOfThread } from './states.js'

export interface NewContextState extends Omit<ContextStateRow, 'createdAtMs' | 'readyAtMs'> {
  /** The artifacts up to its point. Default: not known. */
  readonly ledger?: Ledger | null
}

/**
 * Inserts a state, unless another worker or a clear came first: pending if it needs a summary, else ready.
 *
 * Invariant: the agent's row is locked `for share` until the commit. Other compactions share the lock; a clear updates the row and
 * waits. So a clear comes either before, and the state is refused, or after, and the state belongs to the epoch that ended
 * (docs/design.md#invariant-9). The rows of the thread and of the replaced state are locked, too: an erasure of the thread waits for
 * this transaction, and deletes all that it wrote.
 *
 * The result of `holdThread` is not needed: without the thread's row the last statement finds no agent and inserts nothing. A
 * count of erased messages is not needed either: callers acquire `holdMarks` before they read the messages, and an erasure of
 * messages waits for that lock.
 *
 * @returns false if the thread was erased, the agent was cleared, the replaced state is void, or the generation is taken
 */
export async function insertState(tx: Tx, state: NewContextState): Promise<boolean> {
  // Separate statements, sent in this order (packages/store/README.md): in a single one Postgres may lock the state first, and
  // deadlock with a clear.
  const [, , { count }] = await Promise.all([
    holdThread(tx, state.threadId),
    tx`
      select from heddle.agents
      where id = (select agent_id from heddle.threads where id = ${state.threadId})
      for share`,
    insertUnlessCleared(tx, state),
  ])
  return count === 1
}

function insertUnlessCleared(tx: Tx, state: NewContextState) {
  return tx`
    with agent as (
      select clear_epoch from heddle.agents
      where id = (select agent_id from heddle.threads where id = ${state.threadId})
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
      covered_count, covered_tokens, summary, summary_tokens, summarizer, ledger, ready_at)
    select
      ${state.id}, ${state.threadId}, ${state.lane}, ${state.strategy}, ${state.clearEpoch}, ${state.generation},
      ${state.replaces}, ${state.status},
      ${state.point.orderedAtMs}, ${state.point.ordinal}, ${state.point.id}, ${state.headSeq}, ${asArray(state.topIds)}::uuid[],
      ${state.coveredFrom?.orderedAtMs ?? null}, ${state.coveredFrom?.ordinal ?? null}, ${state.coveredFrom?.id ?? null},
      ${state.coveredTo?.orderedAtMs ?? null}, ${state.coveredTo?.ordinal ?? null}, ${state.coveredTo?.id ?? null},
      ${state.coveredCount}, ${state.coveredTokens},
      ${state.summary === null ? null : toStorable(state.summary)}, ${state.summaryTokens}, ${state.summarizer},
      ${state.ledger == null ? null : JSON.stringify(state.ledger)}::text::json,
      ${state.status === 'ready' ? tx`now()` : null}
    from agent
    where agent.clear_epoch = ${state.clearEpoch}
      -- A thread whose name was erased and used again counts on from the old head (base_seq): a state of the erased thread
      -- read an earlier head, and is refused.
      and ${state.headSeq}::bigint >= (select base_seq from heddle.stage_cursors where thread_id = ${state.threadId})
      and (${state.replaces}::uuid is null or exists (select from replaced))
    on conflict (thread_id, lane, clear_epoch, generation) where status <> 'void' do nothing`
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
 * Adds the summary to a pending state, which makes it ready.
 *
 * A state that was `passed` (a later one was inserted before its summary) may still get it, and is used until the later one
 * has its own.
 *
 * @returns false if the agent was cleared since, or the state is void or has a summary
 */
export async function publishSummary(tx: Tx, published: PublishedSummary): Promise<boolean> {
  const agentOfState = tx`
    select thread.agent_id from heddle.context_states as state
    join heddle.threads as thread on thread.id = state.thread_id
    where state.id = ${published.stateId}`
  // The agent first, as above.
  const [, { count }] = await Promise.all([
    tx`select from heddle.agents where id = (${agentOfState}) for share`,
    tx`
      update heddle.context_states as state
      set
        status = 'ready', ready_at = now(), summary = ${toStorable(published.summary)},
        summary_tokens = ${published.summaryTokens}, summarizer = ${published.summarizer}
      from heddle.agents as agent
      where state.id = ${published.stateId} and state.status in ('pending', 'passed')
        and state.clear_epoch = ${published.clearEpoch}
        and agent.id = (${agentOfState}) and agent.clear_epoch = ${published.clearEpoch}`,
  ])
  return count === 1
}

/**
 * Marks the states of a series from a generation on as void, because of a late message. Their rows stay, so that earlier
 * contexts can be explained.
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
  // The lock waits for a transaction that inserts a state after one of these; the second statement then sees that one, too.
  const [, { count }] = await Promise.all([
    tx`select id from heddle.context_states where ${series} order by generation for update`,
    tx`update heddle.context_states set status = 'void', voided_at = now() where ${series}`,
  ])
  return count
}
