import type { Ledger } from '@heddle/core'
import type { Tx } from '../connection/connection.js'

/** The artifacts up to a compaction; null for one from before there were ledgers, or whose messages were erased. */
export async function loadLedger(tx: Tx, { stateId }: { readonly stateId: string }): Promise<Ledger | null> {
  const [row] = await tx<{ ledger: Ledger | null }[]>`
    select ledger from heddle.context_states where id = ${stateId}`
  return row?.ledger ?? null
}

/** The ledger of a compaction by the last message that it took into account, in whatever lane. */
export async function findLedger(
  tx: Tx,
  { threadId, messageId }: { readonly threadId: string; readonly messageId: string },
): Promise<Ledger | null> {
  const [row] = await tx<{ ledger: Ledger }[]>`
    select ledger from (
      select ledger, false as is_void, created_at from heddle.context_states
      where thread_id = ${threadId} and status <> 'void' and point_id = ${messageId} and ledger is not null
      union all
      select ledger, true as is_void, created_at from heddle.context_states
      where thread_id = ${threadId} and status = 'void' and point_id = ${messageId} and ledger is not null
    ) as state
    order by is_void, created_at desc
    limit 1`
  return row?.ledger ?? null
}
