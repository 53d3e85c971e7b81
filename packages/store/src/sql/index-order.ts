import type { PendingQuery, Row } from 'postgres'
import type { Tx } from '../connection/connection.js'

/**
 * Makes the following statements of the transaction read rows in the order of an index, if there is one, instead of reading
 * all and sorting. During a large import the statistics may still describe an empty table: then all plans cost the same,
 * and the wrong one reads a whole archive for one page of it.
 *
 * Not an async function, which would send it at once: it is sent together with the statement that needs it, before it.
 */
export function byIndexOrder(tx: Tx) {
  return tx`select set_config('enable_sort', 'off', true)`
}

/**
 * Looks one row up by the unique index that ends with a column. An equality would suffice with current statistics. If they
 * describe a small thread, each index of the thread's rows costs the planner the same, and it may read the whole thread by
 * another one. A range of one value with its order is cheapest in the index that has this order.
 *
 * @param column with its table, such as `messages.seq`
 * @returns the condition, the order and an offset, which keeps the planner from pulling the subquery up
 */
export function byKey(tx: Tx, column: PendingQuery<Row[]>, value: PendingQuery<Row[]>) {
  return tx`${column} between ${value} and ${value} order by ${column} offset 0`
}
