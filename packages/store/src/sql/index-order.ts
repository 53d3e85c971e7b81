import type { PendingQuery, Row } from 'postgres'
import type { Tx } from '../connection/connection.js'

/**
 * Has what follows in the transaction read by an index that gives its rows in their order, where there is one, instead of
 * reading all and sorting them. Statistics may tell of an empty table while a large import is under way: then all ways
 * look the same to the planner, and the wrong one reads a whole archive for one page of it.
 *
 * Not an async function, which would send it at once: it goes with the statement that it is for, in front of it.
 */
export function byIndexOrder(tx: Tx) {
  return tx`select set_config('enable_sort', 'off', true)`
}

/**
 * Looks one row up by the unique index that a column ends. An equality would do where statistics are of a table's size;
 * where they tell of a small thread, each index of the thread's rows costs the planner the same, and it reads the whole
 * thread in another one. A range of one value and its order are cheapest in the index that has this order.
 *
 * @param column with its table, such as `messages.seq`
 * @returns the condition, the order and an offset, behind which nothing is pulled up into an outer query
 */
export function byKey(tx: Tx, column: PendingQuery<Row[]>, value: PendingQuery<Row[]>) {
  return tx`${column} between ${value} and ${value} order by ${column} offset 0`
}
