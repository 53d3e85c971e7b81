import type { WakeStageName } from '@heddle/contracts'
import { type KeptUsage, recordKeptUsages } from '../compaction/kept-lanes.js'
import type { Tx } from '../connection/connection.js'
import { asArray, asQuotedArray } from '../sql/arrays.js'
import { toStorable } from '../sql/text.js'
import type { Store } from '../store.js'
import type { PruneUsage, ThreadRow } from './threads.js'

/**
 * Moves the embed stage's cursor up to a message, if it is not past it already: with another model the stage meets messages
 * again. Holds the thread's cursors until the commit.
 *
 * @returns false where the thread is gone
 */
export async function advanceEmbedCursor(
  tx: Tx,
  { threadId, toSeq }: { threadId: string; toSeq: number },
): Promise<boolean> {
  const { count } = await tx`
    update heddle.stage_cursors
    set embed_seq = greatest(embed_seq, ${toSeq})
    where thread_id = ${threadId} and ${toSeq}::bigint <= head_seq and ${toSeq}::bigint >= base_seq`
  return count === 1
}

/**
 * Moves the prune stage's cursor on to the head that it saw, with what the context took there, and the cursor of the
 * summarize stage with it where nothing waits for a summary. Of two workers that began at one place, one moves it.
 *
 * All lanes of a thread share the cursor: it stays where it is if a lane was recorded that the caller has not seen.
 */
export async function settlePrune(
  tx: Tx,
  {
    thread,
    usage,
    awaitsSummary,
    keptLanes,
    keptUsages,
  }: {
    thread: Pick<ThreadRow, 'threadId' | 'pruneSeq' | 'headSeq'>
    usage: PruneUsage | null
    awaitsSummary: boolean
    /** The recorded lanes that the caller has seen, besides the thread's own. */
    keptLanes: readonly string[]
    /** The usage of those that it has compacted. */
    keptUsages: ReadonlyMap<string, KeptUsage>
  },
): Promise<void> {
  const { threadId, pruneSeq, headSeq } = thread
  await Promise.all([
    tx`
      update heddle.stage_cursors
      set
        prune_seq = ${headSeq}, prune_usage = ${usage === null ? null : JSON.stringify(usage)}::text::json,
        summarize_seq = case when ${awaitsSummary} then summarize_seq else greatest(summarize_seq, ${headSeq}) end
      where thread_id = ${threadId} and prune_seq = ${pruneSeq} and ${headSeq}::bigint between prune_seq and head_seq
        and not exists (
          select from heddle.kept_lanes as kept
          where kept.thread_id = ${threadId} and kept.lane <> all (${asQuotedArray(keptLanes)}::text[]))`,
    recordKeptUsages(tx, { threadId, usages: keptUsages }),
  ])
}

/** Marks a thread that a stage gave up on: it is left alone until `retryAtMs`. */
export async function markThreadFailed(
  tx: Tx,
  { threadId, stage, error, retryAtMs }: { threadId: string; stage: string; error: string; retryAtMs: number },
): Promise<void> {
  await tx`
    update heddle.stage_cursors
    set last_error = ${toStorable(`${stage}: ${error}`)}, retry_at = ${retryAtMs}
    where thread_id = ${threadId}`
}

/**
 * Takes away the mark that one of the stages left, once it got through; free of cost where there is none. Marks begin with
 * the name of their stage: what another stage gave up on stays marked.
 */
export async function clearThreadFailure(
  tx: Tx,
  { threadId, stages }: { threadId: string; stages: readonly WakeStageName[] },
): Promise<void> {
  await tx`
    update heddle.stage_cursors
    set last_error = null, retry_at = null
    where thread_id = ${threadId} and last_error is not null
      and split_part(last_error, ':', 1) = any(${asArray(stages)}::text[])`
}

export interface ThreadWork {
  readonly stage: WakeStageName
  readonly projectId: string
  readonly threadId: string
}

/**
 * Threads of all projects whose stages are behind their head, those that wait longest first, with embed and the next of prune
 * and summarize; then those with iterations that their progress summary does not know of.
 *
 * @param limit of the threads of each kind: those to be looked at now, those whose failure is long enough ago, and the last
 */
export async function findLaggingThreads(
  store: Store,
  { limit, nowMs }: { limit: number; nowMs: number },
): Promise<ThreadWork[]> {
  return await store.asReconciler(
    async (tx) =>
      await tx<ThreadWork[]>`
      select project_id, thread_id, stage from heddle.lagging_threads(${limit}::integer, ${nowMs}::timestamptz)
      union all
      select project_id, thread_id, 'summarize' from heddle.lagging_progress(${limit}::integer, ${nowMs}::timestamptz)`,
  )
}

/** Threads of all projects that have vectors of another model and not yet as many of this one. */
export async function findThreadsToReembed(
  store: Store,
  { model, limit, nowMs }: { model: string; limit: number; nowMs: number },
): Promise<ThreadWork[]> {
  return await store.asReconciler(
    async (tx) =>
      await tx<ThreadWork[]>`
      select distinct project_id, thread_id, 'embed' as stage
      from heddle.lagging_vectors(${model}, ${limit}::integer, ${nowMs}::timestamptz)`,
  )
}

/** Threads of all projects with a compaction that has waited for its summary since before a time. */
export async function findPendingStates(
  store: Store,
  { limit, createdBeforeMs, nowMs }: { limit: number; createdBeforeMs: number; nowMs: number },
): Promise<ThreadWork[]> {
  return await store.asReconciler(
    async (tx) =>
      await tx<ThreadWork[]>`
      select project_id, thread_id, 'summarize' as stage
      from heddle.pending_states(${limit}::integer, ${createdBeforeMs}::timestamptz, ${nowMs}::timestamptz)`,
  )
}

/** Contexts of all projects that were requested before a time and that nobody has built or failed yet, oldest first. */
export async function findRequestedContexts(
  store: Store,
  { limit, requestedBeforeMs }: { limit: number; requestedBeforeMs: number },
): Promise<{ projectId: string; contextId: string }[]> {
  return await store.asReconciler(
    async (tx) =>
      await tx<{ projectId: string; contextId: string }[]>`
      select project_id, context_id
      from heddle.requested_contexts(${limit}::integer, ${requestedBeforeMs}::timestamptz)`,
  )
}

/** Snapshots of all projects that were requested before a time and that nobody has saved or failed yet, oldest first. */
export async function findRequestedSnapshots(
  store: Store,
  { limit, requestedBeforeMs }: { limit: number; requestedBeforeMs: number },
): Promise<{ projectId: string; snapshotId: string }[]> {
  return await store.asReconciler(
    async (tx) =>
      await tx<{ projectId: string; snapshotId: string }[]>`
      select project_id, snapshot_id
      from heddle.requested_snapshots(${limit}::integer, ${requestedBeforeMs}::timestamptz)`,
  )
}
