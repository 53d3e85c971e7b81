import type { Settings } from '@heddle/contracts'
import { type EarlierIterations, type LoopContext, progressLane, WINDOW_ITERATIONS_MAX } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { loadThreadDetails } from '../threads/thread-details.js'
import type { ThreadRow } from '../threads/threads.js'
import { overviewLoop } from './iteration-reading.js'
import { loadEarlierProgress, loadNewestIterations, loadProgress, type ProgressRow } from './progress.js'

/**
 * Iterations without a summary that one read of a loop returns at most. Only a loop that no worker has summarized, or with
 * summaries switched off, has more.
 */
export const LOOP_ITERATIONS_READ_MAX = 400

export interface StoredLoop {
  readonly loop: LoopContext
  /** The stored row of the summary in `loop`; null if it is not valid. */
  readonly progress: ProgressRow | null
  /** Iterations ever stored, including those before the last clear. */
  readonly stored: number
}

/** The state of a thread's loop under some settings: as the client reported it, or else derived from its iterations. */
export async function loadLoop(
  tx: Tx,
  { thread, settings }: { thread: ThreadRow; settings: Settings },
): Promise<StoredLoop> {
  const { threadId, clearEpoch, goal } = thread
  const [{ eligible, stored, newest, holds }, details, overview] = await Promise.all([
    loadProgress(tx, { threadId, lane: progressLane(settings), clearEpoch }),
    loadThreadDetails(tx, { threadId }),
    overviewLoop(tx, { threadId }),
  ])
  const progress = holds ? newest : null
  const limit = LOOP_ITERATIONS_READ_MAX
  const iterations = await loadNewestIterations(tx, { threadId, afterNumber: progress?.coveredTo ?? null, limit })
  const told = details?.loop ?? {}
  const { firstAtMs, lastCli, lastModel, fileEvents } = overview
  return {
    loop: {
      goal,
      iterations,
      summary: progress,
      totalIterations: eligible,
      startTime: told.startTime ?? (firstAtMs === null ? null : new Date(firstAtMs).toISOString()),
      currentCli: told.currentCli ?? lastCli,
      currentModel: told.currentModel ?? lastModel,
      envSnapshot: told.envSnapshot ?? {},
      fileEvents,
    },
    progress,
    stored,
  }
}

/** Earlier summaries from which a window may begin; they are at least `summarizeEvery` iterations apart, or few. */
const EARLIER_SUMMARIES_MAX = 40

/**
 * The iterations before the summary in force, and the summaries that cover fewer of them, for windows that adapt.
 *
 * @param options `shown`: iterations that {@link loadLoop} has read already
 */
export async function loadEarlier(
  tx: Tx,
  {
    thread,
    settings,
    progress,
    shown,
  }: { thread: ThreadRow; settings: Settings; progress: ProgressRow | null; shown: number },
): Promise<EarlierIterations | undefined> {
  if (settings.iterations.window === 'fixed' || progress === null) return undefined
  const { threadId, clearEpoch } = thread
  const series = { threadId, lane: progressLane(settings), clearEpoch }
  const limit = Math.max(0, WINDOW_ITERATIONS_MAX - shown)
  const [summaries, iterations] = await Promise.all([
    loadEarlierProgress(tx, series, { coveredBelow: progress.coveredCount, limit: EARLIER_SUMMARIES_MAX }),
    loadNewestIterations(tx, { threadId, upToNumber: progress.coveredTo, limit }),
  ])
  return { summaries, iterations }
}
