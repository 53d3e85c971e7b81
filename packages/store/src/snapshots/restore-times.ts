import type { Tx } from '../connection/connection.js'
import { isOwn } from '../sql/own-project.js'

/*
 * All messages of a restore have one time, and an ordinal by which they keep their order. Restores of one snapshot at the same moment, and
 * one that goes on after a crash, must use the same time: each of them stores a part of the messages.
 */

/** A restore that is repeated within this time uses the positions of the first one. */
const SAME_RESTORE = '10 minutes'

/**
 * Records that a snapshot is restored.
 *
 * @returns the time at which its messages are placed, in milliseconds since 1970; null if there is no such snapshot
 */
export async function noteRestored(tx: Tx, { id, nowMs }: { id: string; nowMs: number }): Promise<number | null> {
  const [row] = await tx<{ restoredAtMs: number }[]>`
    update heddle.snapshots as snapshot
    set restored_at = case
      when snapshot.restored_at > ${nowMs}::timestamptz - ${SAME_RESTORE}::text::interval
        and snapshot.restored_at > coalesce(agent.last_cleared_at, '-infinity')
      then snapshot.restored_at
      else greatest(${nowMs}::timestamptz, agent.last_cleared_at + interval '1 millisecond') end
    from heddle.agents as agent
    where snapshot.id = ${id} and ${isOwn(tx, 'snapshot')}
      and snapshot.status = 'saved' and agent.id = snapshot.agent_id
    returning snapshot.restored_at as restored_at_ms`
  return row?.restoredAtMs ?? null
}

/**
 * Records that the file of a snapshot, which need not be stored here, is restored for an agent.
 *
 * @param id of its snapshot
 * @returns the time at which its messages are placed, in milliseconds since 1970
 */
export async function noteFileRestored(
  tx: Tx,
  { id, agentId, nowMs }: { id: string; agentId: string; nowMs: number },
): Promise<number> {
  const isOver = tx`turn.taken_at <= ${nowMs}::timestamptz - ${SAME_RESTORE}::text::interval`
  await tx`
    delete from heddle.turns as turn
    where ${isOwn(tx, 'turn')} and turn.name like 'restore %' and ${isOver}`
  const [row] = await tx<{ takenAtMs: number }[]>`
    with cleared as materialized (
      select max(last_cleared_at) as at from heddle.agents where id = ${agentId} and ${isOwn(tx, 'agents')}
    )
    insert into heddle.turns as turn (name, taken_at)
    select ${`restore ${agentId} ${id}`}, greatest(${nowMs}::timestamptz, cleared.at + interval '1 millisecond') from cleared
    on conflict (project_id, name) do update
      set taken_at = case
        when turn.taken_at > coalesce((select at from cleared), '-infinity') then turn.taken_at
        else excluded.taken_at end
    returning turn.taken_at as taken_at_ms`
  if (row === undefined) throw new Error('the time of a restore was not stored')
  return row.takenAtMs
}
