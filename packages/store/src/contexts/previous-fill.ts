import type { Fill } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'

/** Contexts that are searched. In a thread with requests of many budgets, older contexts do not count. */
const CONTEXTS_SEARCHED_MAX = 32

/** How the thread's latest context of a budget filled it, and its head; null if it was not requested recently. */
export async function loadPreviousFill(
  tx: Tx,
  { threadId, budget }: { threadId: string; budget: number },
): Promise<{ fill: Fill; headSeq: number } | null> {
  const [previous] = await tx<{ fill: Fill; headSeq: number }[]>`
    select fill, head_seq
    from (
      select fill, head_seq, budget, requested_at from heddle.contexts
      where thread_id = ${threadId}
      order by requested_at desc
      limit ${CONTEXTS_SEARCHED_MAX}
    ) as recent
    where budget = ${budget} and fill is not null
    order by requested_at desc
    limit 1`
  return previous ?? null
}
