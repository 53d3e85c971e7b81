import type { EraseOptions, ErasureResult } from '@heddle/client/interface'
import { nameSchema, notFound, parse } from '@heddle/contracts'
import { agentIdOf, threadIdOf } from '@heddle/core'
import type { Queues, WaitingJob } from '@heddle/queue'
import {
  beginErasure,
  continueErasure,
  type ErasureTarget,
  loadErasure,
  loadThreadIdsOf,
  type Store,
  sweepSnapshotFiles,
} from '@heddle/store'
import type { EngineContext } from '../setup/options.js'
import { ownersOf } from './job-owners.js'
import { removeFromJobs } from './message-jobs.js'

/** Everything that is erased by its name. */
type NamedTarget = { readonly kind: Exclude<ErasureTarget['kind'], 'messages'>; readonly targetId: string }

/** Erases a thread and everything that was derived from it. @throws PermanentError `NOT_FOUND` */
export function eraseThread(parts: EngineContext, name: string, options?: EraseOptions): Promise<ErasureResult> {
  const targetId = threadIdOf(parts.projectId, parse(nameSchema, name, 'thread'))
  return erase(parts, { kind: 'thread', targetId }, name, options)
}

/** Erases an agent with its threads, its items and its snapshots. @throws PermanentError `NOT_FOUND` */
export function eraseAgent(parts: EngineContext, name: string, options?: EraseOptions): Promise<ErasureResult> {
  const targetId = agentIdOf(parts.projectId, parse(nameSchema, name, 'agent'))
  return erase(parts, { kind: 'agent', targetId }, name, options)
}

/** Erases the client's own project with everything in it. @throws PermanentError `NOT_FOUND` */
export function eraseProject(parts: EngineContext, options?: Omit<EraseOptions, 'reuse'>): Promise<ErasureResult> {
  return erase(parts, { kind: 'project', targetId: parts.projectId }, parts.project, options)
}

/**
 * Inserts the tombstone first: from then on nothing of the target is shown, and jobs for it are refused. Then removes its jobs,
 * which contain messages, and then its rows.
 */
async function erase(
  parts: EngineContext,
  what: NamedTarget,
  name: string,
  { signal, wait = true, reuse = false }: EraseOptions = {},
): Promise<ErasureResult> {
  const { store, queues, projectId, log } = parts
  const target = { projectId, ...what }
  const isThere =
    (await store.inProject(projectId, (tx) => beginErasure(tx, target, { reuse }))) ||
    // Messages of it may still be in the queue.
    ((await queues.removeJobs(jobsOf(target), { dryRun: true })) > 0 &&
      (await store.inProject(projectId, (tx) => beginErasure(tx, target, { evenIfMissing: true, reuse })))) ||
    // A repeated erasure of a name that has been freed since returns the earlier erasure.
    (await store.inProject(projectId, (tx) => loadErasure(tx, target))) !== null
  if (!isThere) throw notFound(what.kind, name, 'nothing with this name is stored or queued')
  if (!wait) {
    removeAll(parts, target).catch((error: unknown) =>
      log?.warn({ error }, 'finishing an erasure failed; a worker will continue it'),
    )
    return { kind: what.kind, name, removed: {}, jobs: 0, finished: false }
  }
  const jobs = await removeAll(parts, target, signal)
  const erasure = await store.inProject(projectId, (tx) => loadErasure(tx, target))
  return { kind: what.kind, name, removed: erasure?.removed ?? {}, jobs, finished: true }
}

/** Removes jobs and rows of a target, and what the files of snapshots had of it. @returns the number of jobs */
export async function removeAll(
  { store, queues, projectId, snapshotsFolder }: EngineContext,
  target: ErasureTarget,
  signal?: AbortSignal,
  textHashes?: ReadonlySet<string>,
): Promise<number> {
  const jobs = await finishErasure({ store, queues }, target, signal, textHashes)
  if (snapshotsFolder !== null) await sweepSnapshotFiles(store, { folder: snapshotsFolder, projectId })
  return jobs
}

/**
 * Finishes an erasure. Any process may do so, repeatedly and concurrently.
 *
 * @param textHashes of an erasure of messages: see `removeFromJobs`
 * @returns the number of jobs removed from the queues
 */
export async function finishErasure(
  { store, queues }: { readonly store: Store; readonly queues: Queues },
  target: ErasureTarget,
  signal?: AbortSignal,
  textHashes?: ReadonlySet<string>,
): Promise<number> {
  const { projectId, kind, targetId } = target
  if (kind === 'messages') {
    const removed = await removeFromJobs({ store, queues }, target, textHashes)
    await store.erasures.run(() => continueErasure(store, target, signal), { key: targetId, signal })
    return removed
  }
  const threadIds =
    kind === 'agent' ? await store.inProject(projectId, (tx) => loadThreadIdsOf(tx, { agentId: targetId })) : []
  const jobs = await queues.removeJobs(jobsOf({ projectId, kind, targetId }, new Set(threadIds)))
  await store.erasures.run(() => continueErasure(store, target, signal), { key: target.targetId, signal })
  return jobs
}

/**
 * Matches the jobs of the target. Only ingest jobs name their agent; jobs of contexts, which contain a message of the user,
 * are found by their thread.
 */
function jobsOf(
  { projectId, kind, targetId }: NamedTarget & { readonly projectId: string },
  threadIds: ReadonlySet<string> = new Set(),
): (job: WaitingJob) => boolean {
  return ({ payload }) => {
    const { project, thread, agent } = ownersOf(payload)
    if (project !== projectId) return false
    return { project, thread, agent }[kind] === targetId || (thread !== null && threadIds.has(thread))
  }
}
