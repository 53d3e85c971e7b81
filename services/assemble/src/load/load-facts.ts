import type { ContextRequest } from '@heddle/contracts'
import { areTimed, type ContextFacts, factLimits, ITERATIONS } from '@heddle/core'
import { type Compaction, loadContextFacts, loadProgressTime, type Tx } from '@heddle/store'
import { compactedAtMs } from './compacted-at.js'

export interface LoadedFacts {
  readonly facts: ContextFacts
  /** Whether some begin or cease to hold by themselves, so that the context cannot be cached. */
  readonly areTimed: boolean
}

/**
 * The facts of a context, as of the compaction from which it continues and as of now; null if the request does not want them.
 * Facts of a thread outside the scope are left out.
 */
export async function loadFacts(
  tx: Tx,
  compaction: Compaction,
  request: ContextRequest,
  nowMs: number,
): Promise<LoadedFacts | null> {
  const { thread, settings } = compaction
  const limits = factLimits(request, settings)
  if (limits === null) return null
  const { agentId, threadId } = thread
  const isShown = request.scope?.threads?.includes(thread.name) ?? true
  const progressMs = settings.strategy === ITERATIONS ? await loadProgressTime(tx, { threadId }) : null
  const baseMs = Math.max(compactedAtMs(compaction, request), progressMs ?? 0)
  const rows = await loadContextFacts(tx, {
    agentId,
    threadId: isShown ? threadId : null,
    baseMs,
    limit: limits.limit,
  })
  const facts = { limits, facts: rows, baseMs, nowMs }
  return { facts, areTimed: areTimed(facts) }
}
