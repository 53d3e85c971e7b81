import type { PartialSettings, WakeJob } from '@heddle/contracts'
import {
  checkSummary,
  countTokens,
  type Message,
  messageReference,
  rawCost,
  readConversation,
  SUMMARIZED_MESSAGES_MAX,
  summarySources,
  summaryTokensMax,
} from '@heddle/core'
import type { Summarizer } from '@heddle/models'
import { done, type Job, type Outcome, skipped } from '@heddle/queue'
import {
  awaitsSummary,
  type Compaction,
  type ContextStateRow,
  loadCompaction,
  loadCovered,
  publishSummary,
  type Store,
  toCompactionState,
} from '@heddle/store'

export interface SummarizeDeps {
  /** Settings of the file and the environment, under those of agents. */
  readonly settings: PartialSettings
  readonly store: Store
  readonly summarizer: Summarizer
  /** Tells subscribers that a state was published. */
  readonly tellCompacted: (projectId: string, threadId: string, stateId: string) => Promise<void>
}

/**
 * Writes the summary that a compaction waits for, from the raw messages that it covers, and publishes it unless the
 * window was cleared meanwhile. A summarizer that fails leaves everything as it was (DESIGN: invariants 8 and 9).
 */
export async function summarize(job: Job<WakeJob>, deps: SummarizeDeps): Promise<Outcome> {
  const { projectId, threadId } = job.payload
  const compaction = await deps.store.inProject(projectId, (tx) =>
    loadCompaction(tx, { threadId, settings: deps.settings }),
  )
  if (!compaction) return skipped('the thread is gone')
  // The thread may have grown meanwhile, and prune is who says when all of it is settled.
  const next = [{ wake: 'prune' as const, projectId, threadId }]
  const pending = compaction.latest
  if (pending === null || !awaitsSummary(pending))
    return skipped('no compaction waits for a summary', isSettled(compaction) ? [] : next)

  const { messages, pairs } = readConversation(await loadSummarized(deps.store, projectId, compaction, pending))
  const tokensMax = summaryTokensMax(compaction.lane)
  const text = await deps.summarizer.summarize(
    {
      purpose: 'compaction',
      messages: summarySources(messages, pairs, (message) => messageReference(message.code)),
      previousSummary: pending.coveredCount > messages.length ? (compaction.current?.summary ?? null) : null,
      tokensMax,
    },
    job.signal,
  )
  const replacedTokens = messages.reduce((sum, message) => sum + rawCost(message), 0)
  checkSummary(text, { tokensMax, replacedTokens })

  const published = await deps.store.inProject(projectId, (tx) =>
    publishSummary(tx, {
      stateId: pending.id,
      clearEpoch: pending.clearEpoch,
      summary: text,
      summaryTokens: countTokens(text),
      summarizer: deps.summarizer.name,
    }),
  )
  if (!published) return skipped('a clear, a late message or another worker came first', next)
  await deps.tellCompacted(projectId, threadId, pending.id)
  return done(next)
}

function isSettled({ thread }: Compaction): boolean {
  return thread.summarizeSeq >= thread.headSeq
}

function loadSummarized(
  store: Store,
  projectId: string,
  { thread }: Compaction,
  pending: ContextStateRow,
): Promise<Message[]> {
  return store.inProject(projectId, (tx) =>
    loadCovered(tx, {
      threadId: thread.threadId,
      clearedSeq: thread.clearedSeq,
      state: toCompactionState(pending),
      limit: SUMMARIZED_MESSAGES_MAX,
    }),
  )
}
