import type { Tx } from '../../connection/connection.js'
import { asArray } from '../../sql/arrays.js'

/**
 * Blanks the iterations whose outputs are messages that are being erased: their numbers and times remain. Progress summaries
 * that cover one of them are removed; the summarize stage makes them again.
 */
export async function blankIterations(tx: Tx, threadId: string, seqs: readonly number[]): Promise<void> {
  const blanked = await tx<{ number: number }[]>`
    with removed as (
      delete from heddle.iterations where thread_id = ${threadId} and seq = any(${asArray(seqs)}::bigint[]) returning *
    ),
    blank as (
      insert into heddle.iterations (thread_id, number, id, seq, happened_at, prompt, created_at)
      select thread_id, number, id, seq, happened_at, '', created_at from removed
    )
    select number from removed order by number`
  const [first] = blanked
  if (first === undefined) return
  await Promise.all([
    tx`delete from heddle.progress_summaries where thread_id = ${threadId} and covered_to >= ${first.number}`,
    tx`
      update heddle.stage_cursors set progress_count = least(progress_count, ${first.number}::integer - 1)
      where thread_id = ${threadId}`,
  ])
}
