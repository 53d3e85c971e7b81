import type { ContextRequest } from '@heddle/contracts'
import type { Compaction } from '@heddle/store'
import { servedFrom } from './served-state.js'

/**
 * The time of the compaction from which a context continues, in milliseconds since 1970. Before the first one it is the beginning
 * of the thread, or of its window after a clear.
 */
export function compactedAtMs(compaction: Compaction, request: ContextRequest): number {
  const { current } = servedFrom(compaction, request).compaction
  const { createdAtMs, lastClearedAtMs } = compaction.thread
  return current?.createdAtMs ?? Math.max(createdAtMs, lastClearedAtMs ?? 0)
}
