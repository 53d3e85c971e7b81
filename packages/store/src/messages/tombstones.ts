import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'

/*
 * No write may get past an erasure. An erasure starts with a tombstone, and then removes the row of the thread and its
 * cursor, before everything else. Every write for a thread follows one of three rules:
 *
 * - An append locks the thread's cursor row, then checks for tombstones.
 * - Derived data (compactions, vectors, summaries) and everything else of a thread is written while the thread's row is locked:
 *   see {@link holdThread}; a foreign key does the same. Deleting the row waits for these transactions; later ones find no row.
 * - Rows that may refer to a thread that does not exist (a requested context, an event, a dead letter, a new thread) are
 *   written under the project's erasure lock, after a check for tombstones: see {@link shareErasureLock}. A tombstone is
 *   inserted while no transaction shares the lock.
 *
 * If a name is used again, its thread has the same id, and a sequence that continues after that of the erased thread: late
 * data that was derived from the erased thread is recognized by its sequence numbers.
 *
 * If messages of a thread that stays are erased, the locks are those of an erasure of the thread, and its `erased_count` grows:
 * data that was derived under another count is refused. A compaction needs no count, since it excludes such an erasure by a lock:
 * see `insertState`.
 *
 * So the erasure finds everything that was written before it, and later writes are refused. Updates of existing rows need no
 * rule: they do not change removed rows.
 */

/** An arbitrary number that separates these advisory locks from others in the database. */
const LOCK_SPACE = 46_804_680

/**
 * Delays new tombstones of a project until the transaction ends. Only for short transactions: while a tombstone waits, later
 * transactions wait, too. The check for tombstones must be a separate statement after this one.
 */
export async function shareErasureLock(tx: Tx): Promise<void> {
  // Awaited here: a statement that is only returned is sent after those of functions that are called later.
  await tx`select pg_advisory_xact_lock_shared(${LOCK_SPACE}::integer, hashtext(current_setting('heddle.project_id')))`
}

/** Takes the erasure lock of the project exclusively until the commit. */
export async function takeErasureLock(tx: Tx): Promise<void> {
  await tx`select pg_advisory_xact_lock(${LOCK_SPACE}::integer, hashtext(current_setting('heddle.project_id')))`
}

/**
 * Protects a thread from erasure until the transaction ends, without blocking reads or other threads.
 *
 * @param seenSeq the head, or another sequence number, from which the data was derived: that of an erased thread of the same
 *   name is before the thread's first. Omitted if no messages were read
 * @param erasedCount of the thread that was read: after an erasure of messages it is another one
 * @returns false if the thread, or messages of it, were erased: nothing may be written for it
 */
export async function holdThread(tx: Tx, threadId: string, seenSeq?: number, erasedCount?: number): Promise<boolean> {
  const { count } = await tx`select from heddle.threads where id = ${threadId} for key share`
  if (count === 0 || seenSeq === undefined) return count === 1
  const own = await tx`
    select from heddle.stage_cursors
    where thread_id = ${threadId} and base_seq <= ${seenSeq}::bigint
      and erased_count = coalesce(${erasedCount ?? null}::integer, erased_count)`
  return own.count === 1
}

/** Of messages there are tombstones, too, but under ids of their own. */
export interface Tombstone extends Columns<'tombstones', 'targetId'> {
  readonly kind: Exclude<Columns<'tombstones', 'kind'>['kind'], 'messages'>
}

/** The tombstones of some projects, agents and threads. */
export async function findTombstones(tx: Tx, ids: readonly string[]): Promise<Tombstone[]> {
  return await tx<Tombstone[]>`
    select kind, target_id from heddle.tombstones where target_id in ${tx([...ids])} order by kind`
}

/** The messages among those of some threads that were erased one by one or in ranges, also of threads of other agents. */
export async function findErasedMessages(
  tx: Tx,
  { threadIds, ids }: { threadIds: readonly string[]; ids: readonly string[] },
): Promise<Columns<'messageErasures', 'threadId' | 'messageId'>[]> {
  return await tx<Columns<'messageErasures', 'threadId' | 'messageId'>[]>`
    select thread_id, message_id from heddle.message_erasures
    where thread_id = any(${asArray(threadIds)}::uuid[]) and message_id = any(${asArray(ids)}::uuid[])`
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
