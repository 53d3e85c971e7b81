import { windowBounds } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { countMessages, type MessageCounts } from './window.js'

export interface WindowCountsQuery {
  readonly threadId: string
  /** Seconds; null without one. */
  readonly rollingWindow: number | null
  readonly lastClearedAtMs: number | null
  /** The thread's head at the last clear; 0 for none. */
  readonly clearedSeq: number
  readonly nowMs: number
  /** Restore marks in the thread; see `restore-marks.ts`. */
  readonly restoredCount: number
}

/** The messages of a thread: how many its window shows, and why the others are hidden. */
export interface WindowCounts {
  readonly inWindow: MessageCounts
  readonly ever: MessageCounts
  /** Messages that a context could show without a window and a clear. A restored message counts once. */
  readonly imported: number
  /** Messages after the last clear that a context could show if they were not older than the rolling window. */
  readonly outsideWindow: number
  readonly beforeClear: number
}

/**
 * Counts exactly what the window of a thread hides, by reason. Each count costs the logarithm of the thread's length, and
 * equal bounds are counted once: at most three counts, and one for a thread without a window and a clear.
 */
export async function countWindow(tx: Tx, query: WindowCountsQuery): Promise<WindowCounts> {
  const { threadId, lastClearedAtMs, clearedSeq, restoredCount } = query
  const counted = new Map<string, Promise<MessageCounts>>()
  const count = (sinceMs: number | null, afterSeq: number): Promise<MessageCounts> => {
    const key = `${sinceMs} ${afterSeq}`
    const counting = counted.get(key) ?? countMessages(tx, { threadId, sinceMs, afterSeq, restoredCount })
    counted.set(key, counting)
    return counting
  }
  const [inWindow, afterClear, ever] = await Promise.all([
    count(windowBounds(query).sinceMs, clearedSeq),
    count(lastClearedAtMs, clearedSeq),
    count(null, 0),
  ])
  return {
    inWindow,
    ever,
    imported: ever.eligible,
    outsideWindow: Math.max(0, afterClear.eligible - inWindow.eligible),
    beforeClear: Math.max(0, ever.eligible - afterClear.eligible),
  }
}
