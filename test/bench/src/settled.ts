import type { Bench } from './bench.js'

const POLL_EVERY_MS = 50

/** Waits until the stages have processed all threads with this prefix: work of one round must not slow down the next. */
export async function untilSettled({ sql }: Bench, prefix: string): Promise<void> {
  for (;;) {
    const [row] = await sql<{ behind: boolean }[]>`
      select exists (
        select from heddle.stage_cursors as cursor join heddle.threads as thread on thread.id = cursor.thread_id
        where starts_with(thread.name, ${prefix})
          and least(cursor.prune_seq, cursor.summarize_seq, cursor.embed_seq) < cursor.head_seq) as behind`
    if (row?.behind !== true) return
    await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS))
  }
}
