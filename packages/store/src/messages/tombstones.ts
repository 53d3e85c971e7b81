import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'

/*
 * How nothing gets past an erasure. It begins with a tombstone, and then takes away the row of the thread and its cursor,
 * before anything else of it is removed. Whoever writes something of a thread falls under one of three rules:
 *
 * - An append holds the thread's cursor row, then looks for tombstones.
 * - Derived data (compactions, vectors, summaries) and everything else of a thread is written while the thread's row is locked:
 *   see {@link holdThread}; a foreign key does the same. Deleting the row waits for these transactions; later ones find no row.
 * - What may name a thread that is not there (a requested context, an event, a dead letter, a thread that is being made)
 *   is written under the project's erasure lock, after looking for tombstones: see {@link shareErasureLock}. A tombstone is
 *   put while nobody shares the lock.
 *
 * Where a name is used again, its thread has the same id, and a sequence that goes on past that of the erased thread: what
 * was derived of that one, and comes late, is known by its sequence numbers.
 *
 * So what was written before the erasure is found by it, and what comes after is refused. What only changes rows that are
 * there needs no rule: a row that was removed is not changed.
 */

/** Apart from other users of advisory locks in the database. Any number will do. */
const LOCK_SPACE = 46_804_680

/**
 * Makes the tombstones of a project wait until the transaction ends. For short transactions only: while a tombstone waits,
 * those who come later wait with it. What looks for tombstones must be a statement of its own after this one.
 */
export async function shareErasureLock(tx: Tx): Promise<void> {
  // Awaited here: a statement that is only returned is sent after those of functions that are called later.
  await tx`select pg_advisory_xact_lock_shared(${LOCK_SPACE}::integer, hashtext(current_setting('heddle.project_id')))`
}

/** Waits until nobody shares the erasure lock of the project, and keeps it until the commit. */
export async function takeErasureLock(tx: Tx): Promise<void> {
  await tx`select pg_advisory_xact_lock(${LOCK_SPACE}::integer, hashtext(current_setting('heddle.project_id')))`
}

/**
 * Keeps a thread from being erased until the transaction ends; other threads and all reading go on.
 *
 * @param seenSeq the head, or another sequence number, from which what is to be written was made: that of an erased thread
 *   of the same name lies before the thread's own. Left out where nothing was read of its messages
 * @returns false where the thread is gone: nothing may be written for it
 */
export async function holdThread(tx: Tx, threadId: string, seenSeq?: number): Promise<boolean> {
  const { count } = await tx`select from heddle.threads where id = ${threadId} for key share`
  if (count === 0 || seenSeq === undefined) return count === 1
  const own = await tx`
    select from heddle.stage_cursors where thread_id = ${threadId} and base_seq <= ${seenSeq}::bigint`
  return own.count === 1
}

export type Tombstone = Columns<'tombstones', 'kind' | 'targetId'>

/** The tombstones of some projects, agents and threads. */
export async function findTombstones(tx: Tx, ids: readonly string[]): Promise<Tombstone[]> {
  return await tx<Tombstone[]>`
    select kind, target_id from heddle.tombstones where target_id in ${tx([...ids])} order by kind`
}

/** A condition: neither the thread nor its agent nor its project was erased. `thread` is the alias of a row of `threads`. */
export function threadStands(tx: Tx) {
  return tx`not exists (
    select from heddle.tombstones
    where tombstones.target_id in (thread.id, thread.agent_id, thread.project_id))`
}

/** A condition: neither the agent nor its project was erased. `agent` is the alias of a row of `agents`. */
export function agentStands(tx: Tx) {
  return tx`not exists (
    select from heddle.tombstones where tombstones.target_id in (agent.id, agent.project_id))`
}
