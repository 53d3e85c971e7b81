import type { WakeStageName } from '@heddle/contracts'
import { type KeptUsage, recordKeptUsages } from '../compaction/kept-lanes.js'
import type { Tx } from '../connection/connection.js'
import { inEachDatabase } from '../placement/databases.js'
import { asArray, asQuotedArray } from '../sql/arrays.js'
import { toStorable } from '../sql/text.js'
import type { Store } from '../store.js'
import type { PruneUsage, ThreadRow } from './threads.js'

/**
 * Advances the cursor of the embed stage to a message unless it is past it already: after a change of the model the stage
 * embeds messages again. Locks the thread's cursors until the commit.
 *
 * @param erasedCount of the thread that was read
 * @returns false if the thread, or messages of it, were erased since
 */
export async function advanceEmbedCursor(
  tx: Tx,
  { threadId, toSeq, erasedCount }: { threadId: string; toSeq: number; erasedCount: number },
): Promise<boolean> {
  const { count } = await tx`
    update heddle.stage_cursors
    set embed_seq = greatest(embed_seq, ${toSeq})
    where thread_id = ${threadId} and ${toSeq}::bigint <= head_seq and ${toSeq}::bigint >= base_seq
      and erased_count = ${erasedCount}`
  return count === 1
}

/**
 * Advances the cursor of the prune stage to the head that it saw, and stores the size of the context there. If nothing waits
 * for a summary, the cursor of the summarize stage advances too. Of two workers that started at one position, one succeeds.
 *
 * The cursor of the remember stage begins and ends here, since this stage knows the settings: where facts are to be read from
 * now on, it begins at the messages that this stage had not read before; where not, it is null.
 *
 * All lanes of a thread share the cursor: it does not advance if a lane was recorded that the caller did not read.
 */
export async function settlePrune(
  tx: Tx,
  {
    thread,
    usage,
    awaitsSummary,
    remembers,
    keptLanes,
    keptUsages,
  }: {
    thread: Pick<ThreadRow, 'threadId' | 'pruneSeq' | 'headSeq'>
    usage: PruneUsage | null
    awaitsSummary: boolean
    /** Whether facts are read from the messages of the thread. */
    remembers: boolean
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
        summarize_seq = case when ${awaitsSummary} then summarize_seq else greatest(summarize_seq, ${headSeq}) end,
        -- Facts of shared messages are read in the thread that they are stored in.
        remember_seq = case when ${remembers} then coalesce(remember_seq, greatest(prune_seq, shared_seq)) end
      where thread_id = ${threadId} and prune_seq = ${pruneSeq} and ${headSeq}::bigint between prune_seq and head_seq
        and not exists (
          select from heddle.kept_lanes as kept
          where kept.thread_id = ${threadId} and kept.lane <> all (${asQuotedArray(keptLanes)}::text[]))`,
    recordKeptUsages(tx, { threadId, usages: keptUsages }),
  ])
}

/**
 * Advances the cursor of the remember stage. Of two workers that started at one position, one succeeds. Locks the thread's cursors
 * until the commit.
 *
 * @param erasedCount of the thread that was read
 * @returns false if another worker was first, or the thread, or messages of it, were erased since
 */
export async function advanceRememberCursor(
  tx: Tx,
  { threadId, fromSeq, toSeq, erasedCount }: { threadId: string; fromSeq: number; toSeq: number; erasedCount: number },
): Promise<boolean> {
  const { count } = await tx`
    update heddle.stage_cursors
    set remember_seq = ${toSeq}
    where thread_id = ${threadId} and remember_seq = ${fromSeq} and ${toSeq}::bigint between base_seq and head_seq
      and erased_count = ${erasedCount}`
  return count === 1
}

/**
 * No facts are read from a thread until its settings say so again. A thread that the prune stage has passed since then stays as
 * it is: the settings may say so by now.
 */
export async function stopRemembering(
  tx: Tx,
  { threadId, pruneSeq }: Pick<ThreadRow, 'threadId' | 'pruneSeq'>,
): Promise<void> {
  await tx`
    update heddle.stage_cursors set remember_seq = null where thread_id = ${threadId} and prune_seq = ${pruneSeq}`
}

/** Marks a thread whose stage failed for good: the stage is not started again before `retryAtMs`. */
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
 * Removes the mark of a stage after a success; it costs nothing if there is no mark. Marks start with the name of their
 * stage: the mark of another stage stays.
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
 * Threads of all projects whose stages are behind their head, longest waiting first, with embed, remember and the next of prune
 * and summarize; then those with iterations that are not in their progress summary.
 *
 * @param limit for each kind of threads: those behind, those whose `retryAtMs` has passed, and those with iterations
 */
export async function findLaggingThreads(
  store: Store,
  { limit, nowMs }: { limit: number; nowMs: number },
): Promise<ThreadWork[]> {
  return await inEachDatabase(
    store,
    async (tx) =>
      await tx<ThreadWork[]>`
      select project_id, thread_id, stage from heddle.lagging_threads(${limit}::integer, ${nowMs}::timestamptz)
      union all
      select project_id, thread_id, 'summarize' from heddle.lagging_progress(${limit}::integer, ${nowMs}::timestamptz)`,
  )
}

/** Threads of all projects that have more vectors of another model than of this one. */
export async function findThreadsToReembed(
  store: Store,
  { model, limit, nowMs }: { model: string; limit: number; nowMs: number },
): Promise<ThreadWork[]> {
  return await inEachDatabase(
    store,
    async (tx) =>
      await tx<ThreadWork[]>`
      select distinct project_id, thread_id, 'embed' as stage
      from heddle.lagging_vectors(${model}, ${limit}::integer, ${nowMs}::timestamptz)`,
  )
}

/** Threads of all projects with a compaction that has waited for its summary since before a given time. */
export async function findPendingStates(
  store: Store,
  { limit, createdBeforeMs, nowMs }: { limit: number; createdBeforeMs: number; nowMs: number },
): Promise<ThreadWork[]> {
  return await inEachDatabase(
    store,
    async (tx) =>
      await tx<ThreadWork[]>`
      select project_id, thread_id, 'summarize' as stage
      from heddle.pending_states(${limit}::integer, ${createdBeforeMs}::timestamptz, ${nowMs}::timestamptz)`,
  )
}

/** Contexts of all projects that were requested before a given time and are neither built nor failed, oldest first. */
export async function findRequestedContexts(
  store: Store,
  { limit, requestedBeforeMs }: { limit: number; requestedBeforeMs: number },
): Promise<{ projectId: string; contextId: string }[]> {
  return await inEachDatabase(
    store,
    async (tx) =>
      await tx<{ projectId: string; contextId: string }[]>`
      select project_id, context_id
      from heddle.requested_contexts(${limit}::integer, ${requestedBeforeMs}::timestamptz)`,
  )
}

/** Snapshots of all projects that were requested before a given time and are neither saved nor failed, oldest first. */
export async function findRequestedSnapshots(
  store: Store,
  { limit, requestedBeforeMs }: { limit: number; requestedBeforeMs: number },
): Promise<{ projectId: string; snapshotId: string }[]> {
  return await inEachDatabase(
    store,
    async (tx) =>
      await tx<{ projectId: string; snapshotId: string }[]>`
      select project_id, snapshot_id
      from heddle.requested_snapshots(${limit}::integer, ${requestedBeforeMs}::timestamptz)`,
  )
}

/** Saved snapshots whose summary was removed with erased messages, in all projects, oldest first. */
export async function findSnapshotsWithoutSummary(
  store: Store,
  { limit }: { limit: number },
): Promise<{ projectId: string; snapshotId: string }[]> {
  return await inEachDatabase(
    store,
    async (tx) =>
      await tx<{ projectId: string; snapshotId: string }[]>`
      select project_id, snapshot_id from heddle.snapshots_without_summary(${limit}::integer)`,
  )
}
