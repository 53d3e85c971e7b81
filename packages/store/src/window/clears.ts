import type { Tx } from '../connection/connection.js'

export interface AgentClear {
  /** The epoch that starts with the clear. */
  readonly epoch: number
  /** Threads with messages that it hides. */
  readonly threads: number
  /** The latest clear of the agent: messages with this time or an earlier one are hidden. */
  readonly lastClearedAtMs: number
  /** The time in the request. */
  readonly clearedAtMs: number
  /** False if an earlier request with the same id did it. */
  readonly isNew: boolean
}

export interface ClearRequest {
  readonly agentId: string
  /** When the agent was cleared, by the caller's clock. */
  readonly clearedAtMs: number
  /** When the clear arrived; by default the server's time. */
  readonly receivedAtMs?: number
  /** A second request with the same id returns the clear of the first. */
  readonly requestId?: string | undefined
}

/**
 * Clears the windows of an agent's threads: messages up to each thread's head are hidden, and so are messages whose time is
 * before `clearedAtMs`. Nothing is deleted.
 *
 * Invariant: a clear takes effect at its arrival at the latest, whatever its time: a clock that runs fast must not hide
 * messages that are sent later. The time in the request is stored beside it.
 *
 * Invariant: the agent's row is locked first, so a compaction is published either before, for the epoch that ends here, or
 * not at all (docs/design.md#invariant-9). Pending summaries are no longer needed.
 *
 * @returns null if there is no such agent
 */
export async function clearAgent(
  tx: Tx,
  { agentId, clearedAtMs, receivedAtMs, requestId }: ClearRequest,
): Promise<AgentClear | null> {
  const before = requestId === undefined ? null : await findClear(tx, { agentId, requestId })
  if (before !== null) return { ...before, isNew: false }
  // A message of the same millisecond is after the clear, unless it was stored before it: its `seq` decides.
  const [agent] = await tx<{ epoch: number; lastClearedAtMs: number; arrivedAtMs: number }[]>`
    update heddle.agents
    set
      clear_epoch = clear_epoch + 1,
      last_cleared_at = greatest(last_cleared_at, least(${clearedAtMs}::timestamptz, arrived.at - interval '1 millisecond'))
    from (
      select coalesce(${receivedAtMs ?? null}::timestamptz, date_trunc('milliseconds', clock_timestamp())) as at
    ) as arrived
    where id = ${agentId}
    returning clear_epoch as epoch, last_cleared_at as last_cleared_at_ms, arrived.at as arrived_at_ms`
  if (agent === undefined) return null
  const { epoch, lastClearedAtMs, arrivedAtMs } = agent
  const [, cleared] = await Promise.all([
    tx`
      insert into heddle.agent_clears (agent_id, epoch, cleared_at, request_id, created_at)
      values (${agentId}, ${epoch}, ${clearedAtMs}, ${requestId ?? null}, ${arrivedAtMs})`,
    // Locked in the same order as in appends, to avoid deadlocks.
    tx<{ headSeq: number }[]>`
      with heads as (
        select cursor.thread_id, cursor.head_seq
        from heddle.stage_cursors as cursor
        where cursor.thread_id in (select id from heddle.threads where agent_id = ${agentId})
        order by cursor.thread_id
        for update
      )
      insert into heddle.thread_clears (thread_id, epoch, head_seq)
      select thread_id, ${epoch}::integer, head_seq from heads
      returning head_seq`,
    tx`
      update heddle.context_states as state set status = 'void', voided_at = now()
      from heddle.threads as thread
      where thread.agent_id = ${agentId} and state.thread_id = thread.id
        and state.status = 'pending' and state.clear_epoch < ${epoch}`,
  ])
  const threads = cleared.filter(({ headSeq }) => headSeq > 0).length
  return { epoch, threads, lastClearedAtMs, clearedAtMs, isNew: true }
}

/** Locks the agent first: of two concurrent requests with one id, the second sees the clear of the first. */
async function findClear(
  tx: Tx,
  { agentId, requestId }: { agentId: string; requestId: string },
): Promise<Omit<AgentClear, 'isNew'> | null> {
  const [, [found]] = await Promise.all([
    tx`select from heddle.agents where id = ${agentId} for no key update`,
    tx<Omit<AgentClear, 'isNew'>[]>`
      select
        cleared.epoch, cleared.cleared_at as cleared_at_ms, agent.last_cleared_at as last_cleared_at_ms,
        (select count(*)
          from heddle.threads as thread
          join heddle.thread_clears as hidden on hidden.thread_id = thread.id
          where thread.agent_id = ${agentId} and hidden.epoch = cleared.epoch and hidden.head_seq > 0) as threads
      from heddle.agent_clears as cleared
      join heddle.agents as agent on agent.id = cleared.agent_id
      where cleared.agent_id = ${agentId} and cleared.request_id = ${requestId}`,
  ])
  return found ?? null
}
