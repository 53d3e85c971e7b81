import { randomUUID } from 'node:crypto'
import type { Settings, SummaryPurpose, WakeJob } from '@heddle/contracts'
import { accountedFor, type Summarizer, type Summarizers } from '@heddle/models'
import type { Clock, Logger } from '@heddle/runtime'
import { countSummaries, insertSummaryCalls, type Store, type ThreadRow } from '@heddle/store'
import { KeptParts } from './kept-parts.js'

export interface AccountingDeps {
  readonly store: Store
  readonly summarizers: Summarizers
  readonly clock: Pick<Clock, 'nowMs'>
  readonly log: Pick<Logger, 'warn'>
}

/** A summarizer that records its calls, and keeps unfinished work for a retry. */
export interface AccountedSummarizer extends Summarizer {
  /** To be called when its summary is stored: work kept for a retry is removed. */
  stored(): Promise<void>
}

const HOUR_MS = 3_600_000

/**
 * The summarizer of an agent's settings, with its calls recorded for the thread and limited in number. Unfinished work of a
 * kept lane has a name of its own: the summary of one lane does not remove what another needs for its retry.
 */
export async function accountedSummarizer(
  { store, summarizers, clock, log }: AccountingDeps,
  {
    projectId,
    threadId,
    headSeq,
    erasedCount,
    keptLane,
  }: WakeJob & Pick<ThreadRow, 'headSeq' | 'erasedCount'> & { readonly keptLane?: string },
  settings: Settings,
): Promise<AccountedSummarizer> {
  // One per job, because the parts of a long range are one summary.
  const summaryId = randomUUID()
  const summarizer = await accountedFor(summarizers.of(settings), {
    countMade: () =>
      store.inProject(projectId, (tx) => countSummaries(tx, { threadId, sinceMs: clock.nowMs() - HOUR_MS })),
    record: (calls) => store.inProject(projectId, (tx) => insertSummaryCalls(tx, { threadId, summaryId, calls })),
    onTooMany: (summaries) =>
      log.warn({ projectId, threadId, summaries }, 'too many summaries in an hour: this one is made without a model'),
  })
  const kept = new Map<SummaryPurpose, KeptParts>()
  const { name, isRemote } = summarizer
  return {
    ...summarizer,
    name,
    async stored() {
      await Promise.all([...kept.values()].map((parts) => parts.forget()))
      kept.clear()
    },
    async summarize(request, signal) {
      // Without a provider there is no partial work to keep.
      if (isRemote !== true) return await summarizer.summarize(request, signal)
      const { purpose } = request
      const of = keptLane === undefined ? purpose : `${purpose} of ${keptLane}`
      const parts = new KeptParts(store, projectId, { threadId, summarizer: name, headSeq, erasedCount, of })
      kept.set(purpose, parts)
      return await summarizer.summarize(request, signal, { parts })
    },
  }
}
