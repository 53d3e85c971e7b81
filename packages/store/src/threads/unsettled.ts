import type { Tx } from '../connection/connection.js'
import { asArray } from '../sql/arrays.js'

/**
 * Returns those of some threads whose stages are behind their head or their last iteration.
 *
 * @param through the last stage to wait for
 */
export async function findUnsettledThreads(
  tx: Tx,
  { threadIds, through }: { threadIds: readonly string[]; through: 'summarize' | 'remember' },
): Promise<string[]> {
  const rows = await tx<{ threadId: string }[]>`
    select thread_id
    from heddle.stage_cursors
    where thread_id = any(${asArray(threadIds)}::uuid[])
      and (
        prune_seq < head_seq or summarize_seq < head_seq or progress_count < iteration_count
        or (${through === 'remember'} and (embed_seq < head_seq or remember_seq < head_seq))
      )`
  return rows.map(({ threadId }) => threadId)
}
