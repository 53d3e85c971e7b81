import type { Fill } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'

/** Contexts that are looked through: of a thread that is asked for at many budgets in turn, the older ones count no more. */
const CONTEXTS_LOOKED_AT = 32

/** How the thread's latest context of a budget filled it, and the head that it saw; null where there was none lately. */
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
      limit ${CONTEXTS_LOOKED_AT}
    ) as recent
    where budget = ${budget} and fill is not null
    order by requested_at desc
    limit 1`
  return previous ?? null
}
