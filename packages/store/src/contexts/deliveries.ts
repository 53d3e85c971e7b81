import type { Tx } from '../connection/connection.js'

/**
 * Deliveries of a thread that stay at least: those who asked for a context come within moments. Older contexts are rebuilt
 * where they are wanted, for the bytes of a context take about a hundred times what its lines do.
 */
const KEPT_PER_THREAD = 8
const DROPPED_AT_ONCE_MAX = 64

/** Whether the old deliveries of a thread are to go with this context: about every eighth one has to do it. */
export function isTurnToDrop(contextId: string): boolean {
  return Number.parseInt(contextId.slice(-1), 16) % KEPT_PER_THREAD === 0
}

/**
 * Removes the delivered bytes of a context's thread but for the newest. Those that somebody else removes at the moment are
 * passed over, so that nobody waits for anybody.
 *
 * @returns the statement itself, which is sent in its turn: an async function's would overtake those that stand before it
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
