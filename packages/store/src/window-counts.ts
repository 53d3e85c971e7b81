import { windowBounds } from '@heddle/core'
import type { Tx } from './connection.js'
import { byKey } from './index-order.js'
import { countMessages, type MessageCounts } from './window.js'

export interface WindowCountsQuery {
  readonly threadId: string
  /** Seconds; null without one. */
  readonly rollingWindow: number | null
  readonly lastClearedAtMs: number | null
  /** The thread's head at the last clear; 0 for none. */
  readonly clearedSeq: number
  readonly nowMs: number
  /** Marks that restores left in the thread; see `restore-marks.ts`. */
  readonly restoredCount: number
}

/** What a thread holds, what its window shows of it, and what hides the rest. */
export interface WindowCounts {
  readonly inWindow: MessageCounts
  readonly ever: MessageCounts
  /** Messages that a context could show were there no window and no clear: one that was restored counts once. */
  readonly imported: number
  /** Messages after the last clear that a context could show, and that are older than the rolling window. */
  readonly outsideWindow: number
  readonly beforeClear: number
}

/**
 * Counts exactly what the window of a thread hides, by reason. Each count costs the logarithm of the thread's length, and
 * bounds that are the same are counted once: three counts at most, one for a thread without a window and a clear.
 */
export async function countWindow(tx: Tx, query: WindowCountsQuery): Promise<WindowCounts> {
  const { threadId, lastClearedAtMs, clearedSeq, restoredCount } = query
  const counted = new Map<string, Promise<MessageCounts>>()
  const count = (sinceMs: number | null, afterSeq: number): Promise<MessageCounts> => {
    const key = `${sinceMs} ${afterSeq}`
    const counting = counted.get(key) ?? countMessages(tx, { threadId, sinceMs, afterSeq })
    counted.set(key, counting)
    return counting
  }
  const [inWindow, afterClear, ever, marks] = await Promise.all([
    count(windowBounds(query).sinceMs, clearedSeq),
    count(lastClearedAtMs, clearedSeq),
    count(null, 0),
    restoredCount === 0 ? NO_MARKS : countMarks(tx, query),
  ])
  return {
    inWindow,
    ever,
    imported: ever.eligible - restoredCount,
    outsideWindow: Math.max(0, afterClear.eligible - inWindow.eligible - marks.outside),
    beforeClear: Math.max(0, ever.eligible - afterClear.eligible - marks.before),
  }
}

const NO_MARKS = { outside: 0, before: 0 }

/**
 * Rows that the counts of what is hidden hold too many: marks that are hidden themselves, and messages that a mark shows in
 * the window. There are as many marks as messages were restored, which is few.
 */
async function countMarks(tx: Tx, query: WindowCountsQuery): Promise<typeof NO_MARKS> {
  const { threadId, lastClearedAtMs, clearedSeq } = query
  const clearedAt = lastClearedAtMs ?? Number.NEGATIVE_INFINITY
  const since = windowBounds(query).sinceMs ?? Number.NEGATIVE_INFINITY
  const place = (row: 'mark' | 'original') => tx`
    case
      when ${tx(row)}.seq <= ${clearedSeq} or ${tx(row)}.ordered_at <= ${clearedAt} then 'before'
      when ${tx(row)}.ordered_at <= ${since} then 'outside'
      else 'window'
    end`
  const [counts] = await tx<(typeof NO_MARKS)[]>`
    select
      count(*) filter (where mark_place = 'outside' or (mark_place = 'window' and original_place = 'outside')) as outside,
      count(*) filter (where mark_place = 'before' or (mark_place = 'window' and original_place = 'before')) as before
    from (
      select ${place('mark')} as mark_place, ${place('original')} as original_place
      from (
        select seq, ordered_at, restores_seq from heddle.messages
        where thread_id = ${threadId} and restores_seq is not null and restores_seq > 0
        order by restores_seq
      ) as mark
      cross join lateral (
        select seq, ordered_at from heddle.messages
        where messages.thread_id = ${threadId} and ${byKey(tx, tx`messages.seq`, tx`mark.restores_seq`)}) as original
    ) as placed`
  return counts ?? NO_MARKS
}
