import type { Tx } from '../connection/connection.js'

/**
 * A condition that row-level security makes too: rows of the transaction's own project. It stands in what is asked for by an
 * id or a name that a caller may have forged, so that a table whose policy is missing or switched off still shows nothing of
 * others.
 *
 * @param table its name or alias in the query
 */
export function isOwn(tx: Tx, table: string) {
  return tx`${tx(table)}.project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)`
}
