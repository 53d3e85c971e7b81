import { createHash } from 'node:crypto'
import type { IngestJob } from '@heddle/contracts'
import type { Queues, WaitingJob } from '@heddle/queue'
import { asksFor, loadErasedMessages, type Store, withoutErased } from '@heddle/store'
import { ownersOf } from './job-owners.js'

/**
 * Removes messages from waiting jobs. A job with others as well is replaced: the one without them is added first, so that a
 * crash in between leaves a repeat and no gap. Jobs that arrive meanwhile are removed by the next round.
 *
 * @param textHashes jobs of contexts whose new message has one of these are removed as well; known only to the process that
 *   began the erasure, since nothing of the texts is stored
 * @returns the number of jobs that had any of them
 */
export async function removeFromJobs(
  { store, queues }: { readonly store: Store; readonly queues: Queues },
  { projectId, targetId }: { readonly projectId: string; readonly targetId: string },
  textHashes: ReadonlySet<string> = new Set(),
): Promise<number> {
  const erased = await store.inProject(projectId, (tx) => loadErasedMessages(tx, { erasureId: targetId }))
  if (erased === null) return 0
  const ids = new Set(erased.ids)
  /** The job itself if it is not meant; null if nothing of it is left. */
  const restOf = ({ stage, payload }: WaitingJob) => {
    const { project, thread } = ownersOf(payload)
    if (project !== projectId || thread !== erased.threadId) return payload
    if (stage === 'assemble') return asksFor(payload, textHashes) ? null : payload
    return stage === 'ingest' ? withoutErased(payload, ids) : payload
  }
  const replaced = new Set<string>()
  for (let removed = 0; ; ) {
    const rests = new Map<string, IngestJob>()
    const found = await queues.removeJobs(
      (job) => {
        const rest = restOf(job)
        if (rest === job.payload) return false
        const key = rest === null ? null : keyOf(job.payload)
        if (key !== null && !replaced.has(key)) rests.set(key, rest as IngestJob)
        return true
      },
      { dryRun: true },
    )
    if (found === 0) return removed
    for (const [key, rest] of rests) {
      await queues.add('ingest', rest)
      replaced.add(key)
    }
    removed += await queues.removeJobs((job) => {
      const rest = restOf(job)
      return rest !== job.payload && (rest === null || replaced.has(keyOf(job.payload)))
    })
  }
}

/** Of the whole content: a malformed job may have no id, or that of another one. */
function keyOf(payload: unknown): string {
  return createHash('sha256').update(JSON.stringify(payload)).digest('base64')
}
