import { mergeSettings, type PartialSettings, type Settings, type WakeJob } from '@heddle/contracts'
import {
  countTokens,
  emptyOf,
  nextProgress,
  type ProgressStep,
  progressLane,
  progressParts,
  progressRequest,
  withEmptyNote,
} from '@heddle/core'
import type { Job } from '@heddle/queue'
import {
  type LoadedProgress,
  loadCheckpoint,
  loadIterationsByRank,
  loadProgress,
  loadThread,
  type ProgressRow,
  type ProgressSeries,
  publishProgress,
  settleProgress,
} from '@heddle/store'
import { type AccountingDeps, accountedSummarizer } from './accounting.js'
import { ask } from './ask.js'

export interface ProgressDeps extends AccountingDeps {
  readonly settings: PartialSettings
}

/** Steps of one job; a loop that is further behind continues in the next job, so that the job ends before its lock expires. */
const STEPS_PER_JOB_MAX = 10

/** `again`: there is more to do; `nothing`: there was nothing to do. */
export type ProgressOutcome = 'nothing' | 'done' | 'again'

/**
 * Updates the progress summary of a thread's iterations (docs/iterations.md): iterations that leave the window are folded
 * in, and at each interval it is rebuilt. If the summarizer fails, nothing changes, and the next iteration or the
 * reconciler retries (docs/design.md#invariant-8 and #invariant-9).
 */
export async function keepProgress(job: Job<WakeJob>, deps: ProgressDeps): Promise<ProgressOutcome> {
  const { projectId, threadId } = job.payload
  let made = 0
  for (; made < STEPS_PER_JOB_MAX && !job.signal.aborted; made++) {
    const work = await deps.store.inProject(projectId, async (tx) => {
      const thread = await loadThread(tx, { threadId })
      if (!thread || thread.iterationCount === 0) return null
      const settings = mergeSettings(deps.settings, thread.agentSettings, thread.settings)
      const series = { threadId, lane: progressLane(settings), clearEpoch: thread.clearEpoch }
      const loaded = await loadProgress(tx, series)
      const checkpoint = await loadCheckpoint(tx, series)
      const step = settings.disableAutoSummarize ? null : dueStep(loaded, checkpoint, settings)
      if (step === null) await settleProgress(tx, { threadId, count: loaded.stored })
      return (
        step && { step, series, loaded, checkpoint, settings, headSeq: thread.headSeq, erasedCount: thread.erasedCount }
      )
    })
    if (work === null) return made === 0 ? 'nothing' : 'done'
    await makeStep(job, deps, work)
  }
  return 'again'
}

function dueStep(
  { eligible, newest, holds }: LoadedProgress,
  checkpoint: ProgressRow | null,
  settings: Settings,
): ProgressStep | null {
  return nextProgress(eligible, holds ? newest : null, checkpoint?.coveredCount ?? 0, settings.iterations)
}

interface Work {
  readonly step: ProgressStep
  readonly series: ProgressSeries
  readonly loaded: LoadedProgress
  readonly checkpoint: ProgressRow | null
  readonly settings: Settings
  /** The head of the thread when it was read. */
  readonly headSeq: number
  readonly erasedCount: number
}

/** The result is discarded if another worker, a clear or a late iteration came first. */
async function makeStep(job: Job<WakeJob>, deps: ProgressDeps, work: Work): Promise<void> {
  const { step, series, loaded, checkpoint, settings, headSeq, erasedCount } = work
  const { store } = deps
  const summarizer = await accountedSummarizer(deps, { ...job.payload, headSeq, erasedCount }, settings)
  const { projectId, threadId } = job.payload
  const { kind, total, coveredCount, baseCount } = step
  const base = baseCount === 0 ? null : kind === 'fold' ? loaded.newest : checkpoint
  const iterations = await store.inProject(projectId, (tx) =>
    loadIterationsByRank(tx, { threadId, after: baseCount, limit: coveredCount - baseCount }),
  )
  const [first, last] = [iterations[0], iterations.at(-1)]
  if (first === undefined || last === undefined) return
  let summary = base?.summary ?? null
  for (const part of progressParts(iterations)) {
    const tokensMax = settings.maxSummaryTokens
    const request = progressRequest(part, { previousSummary: summary, tokensMax })
    // The replaced iterations may be shorter than the summary: a few words each.
    const text = await ask(summarizer, { request, replacedTokens: 0 }, job.signal)
    summary = withEmptyNote(text, emptyOf(part, summary), tokensMax)
  }
  if (summary === null) return
  await store.inProject(projectId, (tx) =>
    publishProgress(tx, {
      ...series,
      headSeq,
      erasedCount,
      version: (loaded.newest?.version ?? 0) + 1,
      kind,
      total,
      coveredCount,
      coveredFrom: base?.coveredFrom ?? first.number,
      coveredTo: last.number,
      summary: summary ?? '',
      summaryTokens: countTokens(summary ?? ''),
      summarizer: summarizer.name,
    }),
  )
  await summarizer.stored()
}
