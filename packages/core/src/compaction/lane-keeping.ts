import { limits } from '@heddle/contracts'

/** How long a lane is recorded as requested before it is recorded again, in milliseconds. */
export const ASKED_AGAIN_MS = 300_000
/**
 * A lane that was requested within this time is not replaced by another, in milliseconds: requests with many budgets in turn
 * would have the whole thread compacted for each of them.
 */
export const HELD_MS = 3_600_000

/** A lane that is kept for requests. */
export interface KeptLane {
  readonly lane: string
  readonly askedAtMs: number
}

/**
 * Whether a request in a lane is to be recorded, so that the lane is kept. Beyond the limit per thread, the lane that was
 * requested least recently gives way, unless all were requested lately.
 *
 * @param isDue whether a context of the lane needs a compaction; a shorter thread is never compacted
 */
export function isRecorded(
  lane: string,
  kept: readonly KeptLane[],
  { isDue, nowMs }: { readonly isDue: boolean; readonly nowMs: number },
): boolean {
  const known = kept.find((one) => one.lane === lane)
  if (known !== undefined) return nowMs - known.askedAtMs > ASKED_AGAIN_MS
  const held = kept.filter(({ askedAtMs }) => nowMs - askedAtMs < HELD_MS)
  return isDue && held.length < limits.keptLanesPerThreadMax
}
