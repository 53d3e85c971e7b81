import type { Tx } from './connection.js'

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
