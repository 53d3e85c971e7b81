import type { Tx } from '../connection/connection.js'

/**
 * The fewest deliveries of a thread that are kept: callers read a context soon after its build. Older contexts are rebuilt on
 * demand, because the bytes of a context take about a hundred times the space of its lines.
 */
const KEPT_PER_THREAD = 8
const DROPPED_AT_ONCE_MAX = 64

/** Whether the old deliveries of a thread are removed with this context: true for about every eighth. */
export function isTurnToDrop(contextId: string): boolean {
  return Number.parseInt(contextId.slice(-1), 16) % KEPT_PER_THREAD === 0
}

/**
 * Removes the delivered bytes of a context's thread except for the newest. Rows that another transaction is removing are
 * skipped, so that transactions do not wait for one another.
 *
 * @returns the statement, which is sent in order: an async function would send it before earlier ones
 */
export function dropOldDeliveries(tx: Tx, contextId: string): PromiseLike<unknown> {
  return tx`
    delete from heddle.context_deliveries
    where context_id in (
      select delivery.context_id
      from heddle.context_deliveries as delivery
      where delivery.context_id = any(array(
        select older.id
        from heddle.contexts as built
        cross join lateral (
          select id from heddle.contexts
          where thread_id = built.thread_id and status = 'built'
          order by requested_at desc, id desc
          offset ${KEPT_PER_THREAD} limit ${DROPPED_AT_ONCE_MAX}) as older
        where built.id = ${contextId} and exists (select from heddle.context_lines where id = older.id)))
      for update skip locked)`
}
