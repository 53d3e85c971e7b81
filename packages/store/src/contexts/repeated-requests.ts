import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'

/*
 * A request is repeated under the id of its idempotency key. Where an earlier attempt had too little time, its refusal is not
 * final: a repeat with a later deadline uses the row again.
 */

/** Whether the row is of an attempt that was refused for its time, and had less of it. */
export function hadLessTime(
  { status, error, deadlineAtMs }: Columns<'contexts', 'status' | 'error' | 'deadlineAtMs'>,
  { deadlineAtMs: later }: { readonly deadlineAtMs: number },
): boolean {
  // Rows hold whole milliseconds.
  return status === 'failed' && error?.code === 'TIMEOUT' && deadlineAtMs < Math.floor(later)
}

/** The same of the row that an insert conflicts with. */
export function hadLessTimeInRow(tx: Tx) {
  return tx`(
    contexts.status = 'failed' and contexts.error ->> 'code' = 'TIMEOUT' and contexts.deadline_at < excluded.deadline_at)`
}

/** Whether that row is of the same request. A caller may use a key twice; a request that is spelled differently is another one. */
export function isSameRequest(tx: Tx) {
  return tx`(contexts.thread_id = excluded.thread_id and contexts.request::text = excluded.request::text)`
}
