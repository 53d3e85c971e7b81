import type { SnapshotFile } from '@heddle/core'
import { finishSnapshot, requestSnapshot, type Tx, withoutErasedThreads } from '@heddle/store'

/**
 * Stores a snapshot as the assemble stage does, in one transaction.
 *
 * @returns the stored part of it; null if all of it was erased, and then nothing is stored
 */
export async function insertSnapshot(
  tx: Tx,
  { agentId, fileName, file }: { agentId: string; fileName: string; file: SnapshotFile },
): Promise<SnapshotFile | null> {
  const createdAtMs = Date.parse(file.timestamp)
  const kept = await withoutErasedThreads(tx, { agentId, file })
  if (kept === null) return null
  const { session_id: id, description } = file
  const request = { id, agentId, description, fileName, storedIn: 'postgres' as const, createdAtMs }
  await requestSnapshot(tx, { ...request, deadlineAtMs: createdAtMs })
  await finishSnapshot(tx, { file: kept, summaryError: null, erasedCount: file.message_count - kept.message_count })
  return kept
}
