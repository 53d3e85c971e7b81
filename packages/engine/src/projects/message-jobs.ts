import type { IngestJob } from '@heddle/contracts'
import type { Queues, WaitingJob } from '@heddle/queue'
import { loadErasedMessages, type Store, withoutErased } from '@heddle/store'
import { ownersOf } from './job-owners.js'

/**
 * Removes messages from waiting jobs. A job with others as well is replaced: the one without them is added first, so that a
 * crash in between leaves a repeat and no gap.
 *
 * @returns the number of jobs that had any of them
 */
export async function removeFromJobs(
  { store, queues }: { readonly store: Store; readonly queues: Queues },
  { projectId, targetId }: { readonly projectId: string; readonly targetId: string },
): Promise<number> {
  const erased = await store.inProject(projectId, (tx) => loadErasedMessages(tx, { erasureId: targetId }))
  if (erased === null) return 0
  const ids = new Set(erased.ids)
  const rests = new Map<unknown, IngestJob>()
  const isMeant = ({ stage, payload }: WaitingJob) => {
    const { project, thread } = ownersOf(payload)
    if (stage !== 'ingest' || project !== projectId || thread !== erased.threadId) return false
    const rest = withoutErased(payload, ids)
    if (rest === payload) return false
    if (rest !== null) rests.set((payload as IngestJob).requestId, rest as IngestJob)
    return true
  }
  if ((await queues.removeJobs(isMeant, { dryRun: true })) === 0) return 0
  for (const rest of rests.values()) await queues.add('ingest', rest)
  return await queues.removeJobs(isMeant)
}
