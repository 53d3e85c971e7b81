import type { Tx } from '../connection/connection.js'

/**
 * A condition that row-level security adds, too: only rows of the transaction's project. It is in queries by an id or a name
 * that a caller may have forged, so that a table whose policy is missing or disabled still shows no rows of other projects.
 *
 * @param table its name or alias in the query
 */
export function isOwn(tx: Tx, table: string) {
  return tx`${tx(table)}.project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)`
}
