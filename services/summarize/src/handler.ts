import type { PartialSettings, WakeJob } from '@heddle/contracts'
import {
  checkSummary,
  countTokens,
  messageReference,
  readConversation,
  summarySources,
  summaryTokensMax,
} from '@heddle/core'
import type { Summarizer } from '@heddle/models'
import { done, type Job, type Outcome, skipped } from '@heddle/queue'
import { loadCompaction, loadCovered, publishSummary, type Store } from '@heddle/store'

export interface SummarizeDeps {
  /** Settings of the file and the environment, under those of agents. */
  readonly settings: PartialSettings
  readonly store: Store
  readonly summarizer: Summarizer
  /** Tells subscribers that a state was published. */
  readonly tellCompacted: (projectId: string, threadId: string, stateId: string) => Promise<void>
}

/** Covered messages that one summary is made of; a longer range is summarized from its newest part and the last summary. */
export const COVERED_MESSAGES_MAX = 20_000

/**
 * Writes the summary that a compaction waits for, from the raw messages that it covers, and publishes it unless the
 * window was cleared meanwhile. A summarizer that fails leaves everything as it was (DESIGN: invariants 8 and 9).
 */
export async function summarize(job: Job<WakeJob>, deps: SummarizeDeps): Promise<Outcome> {
  const { projectId, threadId } = job.payload
  const compaction = await deps.store.inProject(projectId, (tx) =>
    loadCompaction(tx, { threadId, settings: deps.settings }),
  )
  const next = [{ wake: 'prune' as const, projectId, threadId }]
  const pending = compaction?.pending
  if (!compaction || !pending) return skipped('no compaction waits for a summary')

  const covered = await deps.store.inProject(projectId, (tx) =>
    loadCovered(tx, {
      threadId,
      clearedSeq: compaction.thread.clearedSeq,
      state: pending.state,
      limit: COVERED_MESSAGES_MAX,
    }),
  )
  const conversation = readConversation(covered)
  const tokensMax = summaryTokensMax(compaction.lane)
  const text = await deps.summarizer.summarize(
    {
      purpose: 'compaction',
      messages: summarySources(conversation.messages, conversation.pairs, (message) => messageReference(message.code)),
      previousSummary: covered.length < COVERED_MESSAGES_MAX ? null : (compaction.current?.state.summary ?? null),
      tokensMax,
    },
    job.signal,
  )
  const coveredTokens = conversation.messages.reduce((sum, message) => sum + message.tokens, 0)
  checkSummary(text, { tokensMax, coveredTokens })

  const published = await deps.store.inProject(projectId, (tx) =>
    publishSummary(tx, {
      stateId: pending.row.id,
      clearEpoch: pending.row.clearEpoch,
      summary: text,
      summaryTokens: countTokens(text),
      summarizer: deps.summarizer.name,
    }),
  )
  if (!published) return skipped('a clear or another worker came first', next)
  await deps.tellCompacted(projectId, threadId, pending.row.id)
  return done(next)
}
