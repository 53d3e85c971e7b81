import type { WakeJob } from '@heddle/contracts'
import {
  aheadTokens,
  ineligibleReason,
  isSummarizedInParts,
  type Message,
  messageReference,
  readConversation,
  sentIn,
  stateAhead,
} from '@heddle/core'
import { type Job, refuseLargeJob } from '@heddle/queue'
import {
  type Compaction,
  loadUncovered,
  loadUndone,
  markUndone,
  type Tx,
  toCompactionState,
  uncoveredSize,
  withPrunings,
} from '@heddle/store'
import { accountedSummarizer } from './accounting.js'
import type { CoveredRange } from './covered-range.js'
import type { SummarizeDeps } from './deps.js'
import { prepareLeaves } from './in-parts.js'

const reference = (message: Message) => messageReference(message.code)

/**
 * Makes parts of the next summary before its compaction is due, if a model writes them: once it is due, callers wait for
 * the rest only. A job that is lost costs nothing but this time.
 *
 * @returns `more` if one job was not enough
 */
export async function summarizeAhead(
  job: Job<WakeJob>,
  deps: SummarizeDeps,
  compaction: Compaction,
): Promise<'more' | 'nothing more'> {
  const { thread, lane, latest, settings } = compaction
  const { pruneUsage, headSeq, erasedCount } = thread
  const isNear =
    pruneUsage?.lane === lane.key &&
    pruneUsage.stateId === (latest?.id ?? null) &&
    pruneUsage.tokens >= aheadTokens(lane)
  if (!isNear || settings.disableAutoSummarize) return 'nothing more'
  const summarizer = await accountedSummarizer(deps, { ...job.payload, headSeq, erasedCount }, settings)
  if (summarizer.isRemote !== true) return 'nothing more'
  refuseLargeJob(uncoveredSize(thread, latest), deps.sizeMax)
  const { projectId } = job.payload
  const range = await deps.store.inProject(projectId, (tx) => loadRange(tx, compaction))
  if (range === null) return 'nothing more'
  const isDone = await prepareLeaves({ ...range, projectId, compaction, summarizer }, deps.store, job.signal)
  return isDone ? 'nothing more' : 'more'
}

type Range = Pick<CoveredRange, 'state' | 'series' | 'stateId'>

/** The range that the next compaction will cover; null if its summary is not made in parts. */
async function loadRange(tx: Tx, { thread, lane, latest, settings }: Compaction): Promise<Range | null> {
  const { threadId, clearedSeq, lastClearedAtMs, headSeq } = thread
  const bare = latest && toCompactionState(latest)
  const [undone, read] = await Promise.all([
    loadUndone(tx, threadId),
    loadUncovered(tx, { threadId, clearedSeq, lastClearedAtMs, state: bare, keep: 'oldest' }),
  ])
  const messages = markUndone(read.messages, undone).filter(
    (message) => message.seq <= headSeq && ineligibleReason(message) === null,
  )
  const before = latest && bare && (await withPrunings(tx, latest, bare, messages))
  const sent = messages.map((message) => sentIn(settings.format ?? 'neutral', message))
  const state = stateAhead(readConversation(sent), before, lane, headSeq, reference)
  const covered = (latest?.coveredCount ?? 0) + sent.length
  if (state === null || read.hasMore || !isSummarizedInParts(lane, covered)) return null
  return { state, series: latest && { ...latest, topIds: state.topIds }, stateId: null }
}
