import type { PartialSettings, WakeJob } from '@heddle/contracts'
import { countTokens, isSummarizedInParts, summaryTokensMax } from '@heddle/core'
import { done, type Job, LargeJobError, type Outcome, refuseLargeJob, skipped } from '@heddle/queue'
import {
  awaitsSummary,
  type Compaction,
  type ContextStateRow,
  clearThreadFailure,
  loadCompaction,
  loadKeptCompactions,
  loadKeptLanes,
  publishSummary,
  type Tx,
  toCompactionState,
} from '@heddle/store'
import { accountedSummarizer } from './accounting.js'
import { summarizeAhead } from './ahead.js'
import type { CoveredRange } from './covered-range.js'
import type { SummarizeDeps } from './deps.js'
import { askThroughGate } from './gate.js'
import { prepareWhole, type Whole } from './in-parts.js'
import { keepProgress } from './progress.js'
import { readSources } from './read-sources.js'

/**
 * Writes the pending summaries of a thread: of a compaction, and of its older iterations. Each is attempted even if the
 * other one fails.
 */
export async function summarize(job: Job<WakeJob>, deps: SummarizeDeps): Promise<Outcome> {
  const [compacted, progress] = await Promise.allSettled([summarizeRange(job, deps), keepProgress(job, deps)])
  const { projectId, threadId } = job.payload
  if (compacted.status === 'rejected') {
    // The queue receives one error only, and the next attempt may fail with the first again.
    if (progress.status === 'rejected')
      deps.log.warn({ error: progress.reason, projectId, threadId }, 'older iterations were not summarized either')
    throw compacted.reason
  }
  if (progress.status === 'rejected') throw progress.reason
  const outcome = compacted.value
  if (progress.value === 'nothing') return outcome
  await deps.store.inProject(projectId, (tx) => clearThreadFailure(tx, { threadId, stages: ['summarize'] }))
  const more = progress.value === 'again' ? [{ wake: 'summarize' as const, projectId, threadId }] : []
  return done([...outcome.next, ...more])
}

/**
 * Writes the summary that a compaction waits for, one of each job: of the thread's own lane before those of requests. A lane
 * whose summary fails does not keep the others from theirs.
 */
async function summarizeRange(job: Job<WakeJob>, deps: SummarizeDeps): Promise<Outcome> {
  const { projectId, threadId } = job.payload
  const lanes = await deps.store.inProject(projectId, (tx) => loadLanes(tx, threadId, deps.settings))
  if (lanes === null) return skipped('the thread is gone')
  const failures: unknown[] = []
  let outcome: Outcome | null = null
  for (const compaction of lanes.waiting) {
    try {
      outcome = await summarizeLane(job, deps, compaction)
      break
    } catch (error) {
      if (error instanceof LargeJobError || job.signal.aborted) throw error
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  if (outcome !== null) return outcome
  if (!isSettled(lanes.own))
    return skipped('no compaction waits for a summary', [{ wake: 'prune', projectId, threadId }])
  const isMore = (await summarizeAhead(job, deps, lanes.own)) === 'more'
  return isMore ? done([{ wake: 'summarize', projectId, threadId }]) : skipped('no compaction waits for a summary')
}

interface WaitingLanes {
  readonly own: Compaction
  readonly waiting: readonly PendingCompaction[]
}

interface PendingCompaction extends Compaction {
  readonly latest: ContextStateRow
  /** Null for the thread's own lane. */
  readonly keptLane: string | null
}

/** The lanes of a thread whose latest compaction waits for its summary. */
async function loadLanes(tx: Tx, threadId: string, settings: PartialSettings): Promise<WaitingLanes | null> {
  const [own, rows] = await Promise.all([loadCompaction(tx, { threadId, settings }), loadKeptLanes(tx, { threadId })])
  if (own === null) return null
  const kept = rows.length === 0 ? [] : await loadKeptCompactions(tx, own, rows, settings)
  // Until a lane is settled for the first time, its compactions replace one another within seconds.
  const settled = kept.filter(({ usage }) => usage !== null)
  return {
    own,
    waiting: [...pendingOf(own, null), ...settled.flatMap((compaction) => pendingOf(compaction, compaction.lane.key))],
  }
}

function pendingOf(compaction: Compaction, keptLane: string | null): PendingCompaction[] {
  const { latest } = compaction
  return latest !== null && awaitsSummary(latest) ? [{ ...compaction, latest, keptLane }] : []
}

/**
 * Writes the summary of a lane from the raw messages that its compaction covers, and publishes it unless the window was
 * cleared meanwhile. A summarizer that fails leaves everything as it was (docs/design.md#invariant-8 and #invariant-9).
 */
async function summarizeLane(job: Job<WakeJob>, deps: SummarizeDeps, compaction: PendingCompaction): Promise<Outcome> {
  const pending = compaction.latest
  const { projectId, threadId } = job.payload
  // The thread may have grown meanwhile, and only prune decides that it is settled.
  const next = [{ wake: 'prune' as const, projectId, threadId }]
  refuseLargeJob({ messages: pending.coveredCount, tokens: pending.coveredTokens }, deps.sizeMax)
  const { thread, settings, keptLane } = compaction
  const work = {
    ...job.payload,
    headSeq: thread.headSeq,
    erasedCount: thread.erasedCount,
    ...(keptLane !== null && { keptLane }),
  }
  const summarizer = await accountedSummarizer(deps, work, settings)
  const whole = await prepare({ projectId, compaction, row: pending, summarizer }, deps, job.signal)
  if (whole === null) return done([{ wake: 'summarize', projectId, threadId }])
  const isInParts = isSummarizedInParts(compaction.lane, pending.coveredCount)
  const sources = async () =>
    isInParts
      ? (await readSources(deps.store, projectId, compaction, pending, summarizer)).messages
      : whole.request.messages
  const gate = { gate: settings.lossGate, isInParts, sources, log: deps.log }
  const text = await askThroughGate(summarizer, whole, gate, job.signal)

  const published = await deps.store.inProject(projectId, (tx) =>
    publishSummary(tx, {
      stateId: pending.id,
      clearEpoch: pending.clearEpoch,
      summary: text,
      summaryTokens: countTokens(text),
      summarizer: summarizer.name,
    }),
  )
  await summarizer.stored()
  if (!published) return skipped('a clear, a late message or another worker came first', next)
  deps.publishCompacted(projectId, threadId, pending.id)
  return done(next)
}

function isSettled({ thread }: Compaction): boolean {
  return thread.summarizeSeq >= thread.headSeq
}

interface Pending extends Pick<CoveredRange, 'projectId' | 'compaction' | 'summarizer'> {
  readonly row: ContextStateRow
}

/** The input of the summary; null if the next job continues with its parts. */
async function prepare(pending: Pending, { store }: SummarizeDeps, signal: AbortSignal): Promise<Whole | null> {
  const { compaction, row, projectId, summarizer } = pending
  if (isSummarizedInParts(compaction.lane, row.coveredCount))
    return await prepareWhole(
      { ...pending, state: toCompactionState(row), series: row, stateId: row.id },
      store,
      signal,
    )
  const { messages, replacedTokens } = await readSources(store, projectId, compaction, row, summarizer)
  const tokensMax = summaryTokensMax(compaction.lane)
  return { request: { purpose: 'compaction', messages, previousSummary: null, tokensMax }, replacedTokens }
}
