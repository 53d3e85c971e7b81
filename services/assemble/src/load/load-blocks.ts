import type { ContextRequest } from '@heddle/contracts'
import { type ContextBlock, ITERATIONS } from '@heddle/core'
import { type Compaction, loadContextBlocks, type Tx } from '@heddle/store'
import { compactedAtMs } from './compacted-at.js'

/**
 * The memory blocks of a context, as of the compaction from which it continues and as of now. Before the first compaction they
 * are as of the beginning of the thread, or of its window after a clear. Blocks of a thread outside the scope are left out.
 */
export async function loadBlocks(
  tx: Tx,
  compaction: Compaction,
  request: ContextRequest,
): Promise<readonly ContextBlock[]> {
  const { thread, settings } = compaction
  const isShown = request.scope?.threads?.includes(thread.name) ?? true
  return await loadContextBlocks(tx, {
    agentId: thread.agentId,
    threadId: isShown ? thread.threadId : null,
    baseMs: compactedAtMs(compaction, request),
    isRun: settings.strategy === ITERATIONS,
  })
}
