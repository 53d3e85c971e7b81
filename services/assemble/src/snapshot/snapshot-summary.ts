import { errorData, RetryableError } from '@heddle/contracts'
import {
  messageReference,
  readConversation,
  redactSecrets,
  SUMMARY_FAILED,
  summaryFault,
  summarySources,
} from '@heddle/core'
import { accountedFor, type Summarizers } from '@heddle/models'
import { type Clock, type Logger, withDeadline } from '@heddle/runtime'
import { countSummaries, insertSummaryCalls, type Store } from '@heddle/store'
import type { AgentWindow } from './snapshot-window.js'

export interface SnapshotSummaryDeps {
  readonly store: Store
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn'>
  readonly summarizers: Summarizers
}

export interface SnapshotSummary {
  readonly text: string
  /** Why there is none. */
  readonly error: string | null
}

/** Two to four sentences (docs/snapshots.md): what a model takes for them, and lines of about as many words without one. */
const SUMMARY_TOKENS_MAX = 250
const EXTRACTIVE_TOKENS_MAX = 110
/** Characters of one message: a snapshot's summary tells what was done, not what stood in the files. */
const SOURCE_CHARACTERS_MAX = 8_000
/** The requester waits: a summary that takes longer is given up, and the snapshot saved without it. */
const SUMMARY_MS_MAX = 60_000
/** Kept for writing what was read. */
const WRITING_MS = 3_000
const HOUR_MS = 3_600_000

/**
 * Summarizes all threads of a window. A summarizer that fails, or takes too long, costs the summary and never the snapshot.
 *
 * @throws the reason of `signal`
 */
export async function summarizeWindow(
  window: AgentWindow,
  { projectId, snapshotId, deadlineAtMs }: { projectId: string; snapshotId: string; deadlineAtMs: number },
  signal: AbortSignal,
  deps: SnapshotSummaryDeps,
): Promise<SnapshotSummary> {
  const timeoutMs = Math.min(SUMMARY_MS_MAX, Math.max(1, deadlineAtMs - deps.clock.nowMs() - WRITING_MS))
  const late = () => new RetryableError('TIMEOUT', `the summary was not done within ${timeoutMs} ms`)
  const work = (either: AbortSignal) => summarize(window, { projectId, snapshotId }, either, deps)
  try {
    const text = await withDeadline(work, { timeoutMs, late, signal, clock: deps.clock })
    return { text, error: null }
  } catch (error) {
    signal.throwIfAborted()
    const { code, detail } = errorData(error)
    deps.log.warn({ error, projectId, snapshotId }, 'a snapshot is saved without a summary')
    return { text: SUMMARY_FAILED, error: `${code}: ${detail}` }
  }
}

async function summarize(
  { threads, settings }: AgentWindow,
  { projectId, snapshotId }: { projectId: string; snapshotId: string },
  signal: AbortSignal,
  { store, clock, log, summarizers }: SnapshotSummaryDeps,
): Promise<string> {
  // What it costs stands with the thread that was spoken in last.
  const threadId = threads.reduce((latest, thread) => (endOf(thread) >= endOf(latest) ? thread : latest)).threadId
  const summarizer = await accountedFor(summarizers.of(settings), {
    countMade: () =>
      store.inProject(projectId, (tx) => countSummaries(tx, { threadId, sinceMs: clock.nowMs() - HOUR_MS })),
    record: (calls) =>
      store.inProject(projectId, (tx) => insertSummaryCalls(tx, { threadId, summaryId: snapshotId, calls })),
    onTooMany: (summaries) =>
      log.warn({ projectId, threadId, summaries }, 'too many summaries in an hour: this one is made without a model'),
  })
  const messages = threads
    .flatMap((thread) => {
      const { messages, pairs } = readConversation(thread.messages)
      return summarySources(messages, pairs, (message) => messageReference(message.code), {
        charactersMax: SOURCE_CHARACTERS_MAX,
        ...(summarizer.isRemote === true && { prepare: redactSecrets }),
      })
    })
    .slice(-(summarizer.messagesMax ?? Number.POSITIVE_INFINITY))
  const tokensMax = summarizer.isRemote === true ? SUMMARY_TOKENS_MAX : EXTRACTIVE_TOKENS_MAX
  const text = await summarizer.summarize({ purpose: 'snapshot', messages, previousSummary: null, tokensMax }, signal)
  const fault = summaryFault(text, { tokensMax: SUMMARY_TOKENS_MAX, replacedTokens: 0 })
  if (fault === null) return text
  throw new RetryableError('SERVICE_UNAVAILABLE', `the summary was refused: ${fault}`, { field: 'summary' })
}

function endOf({ messages }: AgentWindow['threads'][number]): number {
  return messages.at(-1)?.orderedAtMs ?? Number.NEGATIVE_INFINITY
}
