import type { WakeStageName } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import { threadStands } from '../messages/tombstones.js'
import { isOwn } from '../sql/own-project.js'

export interface StageBehindRow {
  readonly stage: WakeStageName
  readonly threads: number
  readonly messages: number
  /** When the first message that the stage has not reached was stored; null if it is one that a fork shares. */
  readonly sinceMs: number | null
  /** The thread of that message. */
  readonly thread: string
  /** Threads whose job of this stage failed for good. */
  readonly failedThreads: number
  /** The error of one of them, the one with the latest end of its delay. */
  readonly error: string | null
  readonly failedThread: string | null
  /** When the reconciler starts the stage for that thread again. */
  readonly retryAtMs: number | null
}

/**
 * The stages that have not reached the head of some thread of the project.
 *
 * @param threadsMax threads that are read, over all stages; with more of them the counts are of these
 */
export async function loadStagesBehind(
  tx: Tx,
  { threadsMax }: { readonly threadsMax: number },
): Promise<{ readonly rows: StageBehindRow[]; readonly threadsRead: number }> {
  const rows = await tx<(StageBehindRow & { readonly threadsRead: number })[]>`
    with lagging as materialized (
      select
        cursor.thread_id, thread.name, cursor.head_seq, cursor.prune_seq, cursor.summarize_seq, cursor.embed_seq,
        cursor.remember_seq, cursor.last_error, cursor.retry_at
      from heddle.stage_cursors as cursor
      join heddle.threads as thread on thread.id = cursor.thread_id
      where (
          cursor.prune_seq < cursor.head_seq or cursor.summarize_seq < cursor.head_seq
          or cursor.embed_seq < cursor.head_seq or cursor.remember_seq < cursor.head_seq)
        and ${isOwn(tx, 'cursor')} and ${isOwn(tx, 'thread')} and ${threadStands(tx)}
      order by cursor.retry_at, cursor.last_message_at
      limit ${threadsMax}
    ),
    behind as (
      select
        each.stage, lagging.name, lagging.head_seq - each.seq as messages, first.received_at,
        case when split_part(lagging.last_error, ':', 1) = each.stage then lagging.last_error end as error, lagging.retry_at
      from lagging
      cross join lateral (
        values
          ('prune', lagging.prune_seq), ('summarize', lagging.summarize_seq), ('embed', lagging.embed_seq),
          ('remember', lagging.remember_seq)
      ) as each (stage, seq)
      left join lateral (
        select message.received_at
        from heddle.messages as message
        where message.thread_id = lagging.thread_id and message.seq > each.seq
        order by message.seq
        limit 1
      ) as first on true
      where each.seq < lagging.head_seq
    )
    select
      stage, count(*)::integer as threads, sum(messages)::float8 as messages, min(received_at) as since_ms,
      (array_agg(name order by received_at nulls last))[1] as thread, count(error)::integer as failed_threads,
      (array_agg(error order by retry_at desc nulls last) filter (where error is not null))[1] as error,
      (array_agg(name order by retry_at desc nulls last) filter (where error is not null))[1] as failed_thread,
      max(retry_at) filter (where error is not null) as retry_at_ms,
      (select count(*) from lagging)::integer as threads_read
    from behind
    group by stage`
  return { rows: rows.map(({ threadsRead: _, ...row }) => row), threadsRead: rows[0]?.threadsRead ?? 0 }
}
