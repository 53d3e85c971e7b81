import type { ContextRequest, PartialSettings } from '@heddle/contracts'
import { ASKED_AGAIN_MS, dueTokens, isRecorded } from '@heddle/core'
import { type AskedLane, type Compaction, type ThreadRow, uncoveredSize } from '@heddle/store'
import { isOfOthers } from './scope.js'

/** The record of a lane that may be kept for requests. */
export interface LaneRecord {
  /** When it was last recorded; null if it is not. */
  readonly askedAtMs: number | null
  /** Tokens of the thread from which on it is worth recording: below them nothing is ever compacted. */
  readonly dueTokens: number
}

/** The record of the request's lane; null if the lane is the thread's own, or never compacted in the background. */
export function laneRecordOf({ own, lane, settings, current }: Compaction, request: ContextRequest): LaneRecord | null {
  const isCompacted = lane.strategy.planCoverage !== undefined && !settings.disableAutoSummarize
  // A scope shows less than the thread, or other threads, which have lanes of their own.
  if (own === null || !isCompacted || isOfOthers(request) || request.scope?.since !== undefined) return null
  return {
    askedAtMs: own.kept.find((one) => one.lane === lane.key)?.askedAtMs ?? null,
    dueTokens: current === null ? dueTokens(lane) : 0,
  }
}

/** The lane to record with a context, so that it is compacted in the background from now on; null if none. */
export function askedLaneOf(
  { own, lane, thread }: Compaction,
  record: LaneRecord | null,
  request: ContextRequest,
  nowMs: number,
): AskedLane | null {
  if (own === null || record === null) return null
  if (!isRecorded(lane.key, own.kept, { isDue: isDue(record, thread), nowMs })) return null
  return { lane: lane.key, settings: laneOverrides(request) }
}

/**
 * Whether a cached input must be read again, because its lane is to be recorded.
 *
 * @param thread with the messages that came since
 */
export function mustBeRecorded(record: LaneRecord, thread: ThreadRow, nowMs: number): boolean {
  return record.askedAtMs === null ? isDue(record, thread) : nowMs - record.askedAtMs > ASKED_AGAIN_MS
}

/** By all messages since the last clear, as compactions count: a rolling window does not change them. */
function isDue({ dueTokens }: LaneRecord, thread: ThreadRow): boolean {
  return uncoveredSize(thread, null).tokens >= dueTokens
}

/** The fields of a request on which its lane depends. */
export function laneOverrides({ model, budget, strategy }: ContextRequest): PartialSettings {
  return {
    ...(model !== undefined && { model }),
    ...(budget !== undefined && { budget }),
    ...(strategy !== undefined && { strategy }),
  }
}
