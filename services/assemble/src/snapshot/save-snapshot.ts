import { errorData, HeddleError, PermanentError, type SnapshotJob } from '@heddle/contracts'
import type { SnapshotFile } from '@heddle/core'
import { done, type Job, type Outcome, skipped } from '@heddle/queue'
import {
  failSnapshot,
  finishSnapshot,
  holdSnapshot,
  loadSnapshotRow,
  removeSnapshotFile,
  type SnapshotRow,
  snapshotPath,
  withoutErasedThreads,
  writeSnapshotFile,
} from '@heddle/store'
import { refuseExpired } from '../load/refuse-expired.js'
import { renewSummary } from './renew-summary.js'
import type { SaveSnapshotDeps } from './snapshot-deps.js'
import { summarizeWindow } from './snapshot-summary.js'
import { type AgentWindow, readWindow } from './snapshot-window.js'

/**
 * Saves a requested snapshot: reads all threads of the window, summarizes them, writes the file and the row. If it fails for
 * good, the row gets the reason; a request that was answered already stays unchanged, but for a summary that an erasure removed.
 *
 * @throws HeddleError the reason, which also goes to the requester
 */
export async function saveSnapshot(job: Job<SnapshotJob>, deps: SaveSnapshotDeps): Promise<Outcome> {
  const { projectId, snapshotId } = job.payload
  try {
    return await deps.snapshotLimiter.run(() => save(job, deps))
  } catch (error) {
    const isFinal = error instanceof HeddleError && error.disposition !== 'retry'
    if (isFinal || (job.attempt >= job.attemptsMax && !job.signal.aborted)) {
      await deps.store.inProject(projectId, (tx) => failSnapshot(tx, { id: snapshotId, error: errorData(error) }))
    }
    if (isFinal) return skipped(error.message)
    throw error
  }
}

async function save(job: Job<SnapshotJob>, deps: SaveSnapshotDeps): Promise<Outcome> {
  const { store, clock } = deps
  const { projectId, snapshotId: id } = job.payload
  job.signal.throwIfAborted()
  const requested = await store.inProject(projectId, (tx) => loadSnapshotRow(tx, { id }))
  if (!requested) return skipped('the request is gone')
  if (requested.status === 'saved' && requested.needsSummary) return await renewSummary(job, requested, deps)
  if (requested.status !== 'requested') return skipped(`already ${requested.status}`)
  const deadlineAtMs = requested.deadlineAtMs ?? Number.POSITIVE_INFINITY
  refuseExpired({ deadlineAtMs }, clock)
  const nowMs = clock.nowMs()
  const { agentName } = requested
  const window = await store.inProject(
    projectId,
    (tx) => readWindow(tx, { agentName, settings: deps.settings, nowMs }),
    {
      snapshot: true,
    },
  )
  if (window.saved.length === 0) throw nothingToSave(agentName)
  const summary = await summarizeWindow(window, { projectId, snapshotId: id, deadlineAtMs }, job.signal, deps)
  const file = fileOf(requested, window, summary.text, nowMs)
  const outcome = await write({ projectId, requested, file, summaryError: summary.error }, deps)
  if (outcome === 'saved') deps.publishSaved(projectId, id)
  return outcome === 'saved' ? done() : skipped(outcome)
}

function fileOf(requested: SnapshotRow, { sinceMs, saved }: AgentWindow, summary: string, nowMs: number): SnapshotFile {
  return {
    session_id: requested.id,
    timestamp: new Date(requested.createdAtMs).toISOString(),
    description: requested.description,
    summary,
    message_count: saved.length,
    window_start: sinceMs === null ? null : new Date(sinceMs).toISOString(),
    window_end: new Date(nowMs).toISOString(),
    messages: saved,
  }
}

/**
 * Writes the file, then the row, in one transaction that locks the row: a crash in between leaves a file without a row,
 * which is swept or written again, and never a row without its file.
 */
async function write(
  given: { projectId: string; requested: SnapshotRow; file: SnapshotFile; summaryError: string | null },
  { store, snapshotsFolder }: SaveSnapshotDeps,
): Promise<'saved' | 'another worker came first'> {
  const { projectId, requested, file, summaryError } = given
  const { agentId, agentName, projectName } = requested
  const path =
    requested.storedIn === 'files' && snapshotsFolder !== null
      ? snapshotPath(
          {
            folder: snapshotsFolder,
            project: { id: projectId, name: projectName },
            agent: { id: agentId, name: agentName },
          },
          requested.fileName,
        )
      : null
  let isWritten = false
  try {
    return await store.inProject(projectId, async (tx) => {
      const held = await holdSnapshot(tx, { id: requested.id })
      if (held?.status !== 'requested') return 'another worker came first'
      const kept = await withoutErasedThreads(tx, { agentId, file })
      if (kept === null) throw nothingToSave(agentName)
      if (path !== null) {
        isWritten = true
        await writeSnapshotFile(path, kept)
      }
      await finishSnapshot(tx, { file: kept, summaryError, erasedCount: file.message_count - kept.message_count })
      return 'saved'
    })
  } catch (error) {
    // If the connection broke during the commit, it may have succeeded and the row may own the file; the sweep decides.
    if (isWritten && path !== null && !isCommitLost(error)) await removeSnapshotFile(path)
    throw error
  }
}

function isCommitLost(error: unknown): boolean {
  return error instanceof HeddleError && error.disposition === 'retry'
}

function nothingToSave(agent: string): PermanentError {
  return new PermanentError('VALIDATION_ERROR', `the window of agent "${agent}" is empty: there is nothing to save`, {
    field: 'agent',
    received: agent,
    hint: 'Append messages first; messages hidden by a clear are not in the window.',
  })
}
