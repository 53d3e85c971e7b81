import { type Iteration, REGENERATED_ITERATIONS_MAX } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { holdThread, threadStands } from '../messages/tombstones.js'
import type { Columns } from '../schema/rows.js'
import { toStorable } from '../sql/text.js'
import { iterationColumns, joinMessage, type StoredIteration, toIteration } from './iteration-reading.js'

/** A version of a thread's progress summary. */
export type ProgressRow = Columns<
  'progressSummaries',
  | 'id'
  | 'version'
  | 'kind'
  | 'total'
  | 'coveredCount'
  | 'coveredFrom'
  | 'coveredTo'
  | 'summary'
  | 'summaryTokens'
  | 'summarizer'
  | 'createdAtMs'
>

/** The summaries of one lane since the last clear. */
export type ProgressSeries = Columns<'progressSummaries', 'threadId' | 'lane' | 'clearEpoch'>

/**
 * The progress of a thread's iterations since the last clear, and its valid summaries. A summary is valid while it covers all
 * iterations up to its last one: a late iteration between them makes it void.
 */
export interface LoadedProgress {
  readonly eligible: number
  /** All stored iterations. */
  readonly stored: number
  /** The latest version of the lane, valid or not; null before the first. */
  readonly newest: ProgressRow | null
  /** Whether `newest` is valid. */
  readonly holds: boolean
}

/** When the last summary of a thread's iterations was written, in milliseconds since 1970; null before the first. */
export async function loadProgressTime(tx: Tx, { threadId }: { readonly threadId: string }): Promise<number | null> {
  const [row] = await tx<{ latestMs: number | null }[]>`
    select max(created_at) as latest_ms from heddle.progress_summaries where thread_id = ${threadId}`
  return row?.latestMs ?? null
}

export async function loadProgress(tx: Tx, series: ProgressSeries): Promise<LoadedProgress> {
  const { threadId } = series
  const [[counts], [newest]] = await Promise.all([
    tx<{ eligible: number; stored: number }[]>`
      select count(*) as stored, count(*) filter (where ${isLeft(tx, series)}) as eligible
      from heddle.iterations as iteration
      join heddle.threads as thread on thread.id = iteration.thread_id
      where iteration.thread_id = ${threadId}`,
    tx<(ProgressRow & { holds: boolean })[]>`
      select ${progressColumns(tx)}, ${holds(tx, series)} as holds
      from heddle.progress_summaries as progress
      where ${inSeries(tx, series)}
      order by progress.version desc
      limit 1`,
  ])
  const { eligible = 0, stored = 0 } = counts ?? {}
  if (newest === undefined) return { eligible, stored, newest: null, holds: false }
  const { holds: isWhole, ...row } = newest
  return { eligible, stored, newest: row, holds: isWhole }
}

/** Regenerated versions that cover fewer iterations than some number, newest first. Whether they are valid is not checked. */
export async function loadEarlierProgress(
  tx: Tx,
  series: ProgressSeries,
  { coveredBelow, limit }: { coveredBelow: number; limit: number },
): Promise<ProgressRow[]> {
  return await tx<ProgressRow[]>`
    select ${progressColumns(tx)}
    from heddle.progress_summaries as progress
    where ${inSeries(tx, series)} and progress.kind = 'regenerate' and progress.covered_count < ${coveredBelow}::integer
    order by progress.version desc
    limit ${limit}`
}

/** The valid summary that covers the most iterations in full hundreds, see `nextProgress`; null without one. */
export async function loadCheckpoint(tx: Tx, series: ProgressSeries): Promise<ProgressRow | null> {
  const [checkpoint] = await tx<ProgressRow[]>`
    select ${progressColumns(tx)}
    from (
      select * from heddle.progress_summaries as progress
      where ${inSeries(tx, series)} and progress.kind = 'regenerate'
        and progress.covered_count % ${REGENERATED_ITERATIONS_MAX}::integer = 0
      -- Looked at one after the other: whether one holds costs a count.
      order by progress.covered_count desc, progress.version desc
      offset 0) as progress
    where ${holds(tx, series)}
    limit 1`
  return checkpoint ?? null
}

/** Whether the iteration is after the last clear: it was stored after the clear arrived, and its own time is later. */
function isEligible(tx: Tx) {
  return tx`not exists (
    select from heddle.agents as agent
    join heddle.agent_clears as cleared on cleared.agent_id = agent.id and cleared.epoch = agent.clear_epoch
    where agent.id = thread.agent_id
      and (iteration.happened_at <= agent.last_cleared_at or iteration.created_at < cleared.created_at))`
}

/** The same for a series; without a clear all iterations are eligible, and need no check. */
function isLeft(tx: Tx, { clearEpoch }: ProgressSeries) {
  return clearEpoch === 0 ? tx`true` : isEligible(tx)
}

function holds(tx: Tx, series: ProgressSeries) {
  return tx`progress.covered_count = (
    select count(*) from heddle.iterations as iteration
    join heddle.threads as thread on thread.id = iteration.thread_id
    where iteration.thread_id = progress.thread_id and iteration.number <= progress.covered_to and ${isLeft(tx, series)})`
}

function inSeries(tx: Tx, { threadId, lane, clearEpoch }: ProgressSeries) {
  return tx`progress.thread_id = ${threadId} and progress.lane = ${lane} and progress.clear_epoch = ${clearEpoch}`
}

function progressColumns(tx: Tx) {
  return tx`
    progress.id, progress.version, progress.kind, progress.total, progress.covered_count, progress.covered_from,
    progress.covered_to, progress.summary, progress.summary_tokens, progress.summarizer,
    progress.created_at as created_at_ms`
}

export interface RankedIterations {
  readonly threadId: string
  /** Number of iterations since the last clear to skip, by number. */
  readonly after: number
  readonly limit: number
}

/** Iterations since the last clear by their rank in the order of numbers, with the ends of long outputs. */
export async function loadIterationsByRank(tx: Tx, { threadId, after, limit }: RankedIterations): Promise<Iteration[]> {
  const rows = await tx<StoredIteration[]>`
    select ${iterationColumns(tx, 'ends')}
    from heddle.iterations as iteration
    join heddle.threads as thread on thread.id = iteration.thread_id
    ${joinMessage(tx)}
    where iteration.thread_id = ${threadId} and ${isEligible(tx)}
    order by iteration.number
    offset ${after}
    limit ${limit}`
  return rows.map(toIteration)
}

/**
 * The newest iterations since the last clear past some number, oldest first, with the beginnings of their texts and the ends
 * of long outputs, where agents state their progress.
 */
export async function loadNewestIterations(
  tx: Tx,
  {
    threadId,
    afterNumber = null,
    upToNumber = null,
    limit,
  }: { threadId: string; afterNumber?: number | null; upToNumber?: number | null; limit: number },
): Promise<Iteration[]> {
  const rows = await tx<StoredIteration[]>`
    select ${iterationColumns(tx, 'ends')}
    from heddle.iterations as iteration
    join heddle.threads as thread on thread.id = iteration.thread_id
    ${joinMessage(tx)}
    where iteration.thread_id = ${threadId} and ${isEligible(tx)}
      and ${afterNumber === null ? tx`true` : tx`iteration.number > ${afterNumber}`}
      and ${upToNumber === null ? tx`true` : tx`iteration.number <= ${upToNumber}`}
    order by iteration.number desc
    limit ${limit}`
  return rows.map(toIteration).reverse()
}

export type NewProgress = ProgressSeries &
  Omit<ProgressRow, 'id' | 'createdAtMs'> & {
    /** The head of the thread when it was read, and its `erased_count`. */
    readonly headSeq: number
    readonly erasedCount: number
  }

/**
 * Adds a version, unless another worker has added it, or the agent was cleared since (docs/design.md#invariant-9). The thread
 * and the agent are locked until the commit, as for other derived data.
 *
 * @returns false if it was not added
 */
export async function publishProgress(tx: Tx, progress: NewProgress): Promise<boolean> {
  const { threadId, headSeq, lane, clearEpoch, version, kind, total, coveredCount, coveredFrom, coveredTo } = progress
  const [, , { count }] = await Promise.all([
    holdThread(tx, threadId),
    tx`
      select from heddle.agents
      where id = (select agent_id from heddle.threads where id = ${threadId})
      for share`,
    tx`
      insert into heddle.progress_summaries (
        thread_id, lane, clear_epoch, version, kind, total, covered_count, covered_from, covered_to,
        summary, summary_tokens, summarizer)
      select
        ${threadId}, ${lane}, ${clearEpoch}, ${version}, ${kind}, ${total}, ${coveredCount}, ${coveredFrom}, ${coveredTo},
        ${toStorable(progress.summary)}, ${progress.summaryTokens}, ${progress.summarizer}
      from heddle.threads as thread
      join heddle.agents as agent on agent.id = thread.agent_id
      join heddle.stage_cursors as cursor on cursor.thread_id = thread.id
      where thread.id = ${threadId} and agent.clear_epoch = ${clearEpoch} and cursor.base_seq <= ${headSeq}::bigint
        and cursor.erased_count = ${progress.erasedCount} and ${threadStands(tx)}
      on conflict (thread_id, lane, clear_epoch, version) do nothing`,
  ])
  return count === 1
}

/** Records how many iterations the summarize stage has processed; later ones wake it again. */
export async function settleProgress(tx: Tx, { threadId, count }: { threadId: string; count: number }): Promise<void> {
  await tx`
    update heddle.stage_cursors set progress_count = ${count}
    where thread_id = ${threadId} and progress_count < ${count} and ${count}::integer <= iteration_count`
}
