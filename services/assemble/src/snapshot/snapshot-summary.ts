import { errorData, HeddleError, RetryableError } from '@heddle/contracts'
import {
  messageReference,
  readConversation,
  redactSecrets,
  SUMMARY_FAILED,
  type SummarySource,
  sentencesFault,
  summarizeExtractivelyInSteps,
  summaryFault,
  summarySources,
} from '@heddle/core'
import { accountedFor, type Summarizers } from '@heddle/models'
import { type Clock, type Logger, runCooperatively, withDeadline } from '@heddle/runtime'
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
  /** Why there is no summary. */
  readonly error: string | null
}

/** Enough for two to four sentences of a model (docs/snapshots.md), or lines of about that length without one. */
const SUMMARY_TOKENS_MAX = 250
const EXTRACTIVE_TOKENS_MAX = 110
/** Characters of one message: a snapshot's summary says what was done, not what the files contained. */
const SOURCE_CHARACTERS_MAX = 8_000
/** Answers of one summarizer, before the summary is made without it. */
const ANSWERS_MAX = 2
/** The requester waits, so after this time the snapshot is saved without a summary. */
export const SUMMARY_MS_MAX = 60_000
/** Time reserved for writing the snapshot. */
const WRITING_MS = 3_000
const HOUR_MS = 3_600_000

/**
 * Summarizes all threads of a window. If the summarizer fails or times out, the snapshot is saved without a summary.
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
  const late = () => new RetryableError('TIMEOUT', `the summary did not finish within ${timeoutMs} ms`)
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

/** The input and the place of a summary: a window, or what is left of a saved one. */
export type SummarizedThreads = Pick<AgentWindow, 'threads' | 'settings'>

/**
 * Two to four sentences about all threads. An answer of another shape is requested once more; after a second one the summary is made
 * without a model.
 *
 * @throws the error of a summarizer that gives no answer; the reason of `signal`
 */
export async function summarize(
  summarized: SummarizedThreads,
  { projectId, snapshotId }: { projectId: string; snapshotId: string },
  signal: AbortSignal,
  { store, clock, log, summarizers }: SnapshotSummaryDeps,
): Promise<string> {
  const { threads, settings } = summarized
  // The cost is recorded with the thread of the latest message.
  const threadId = threads.reduce((latest, thread) => (endOf(thread) >= endOf(latest) ? thread : latest)).threadId
  const summarizer = await accountedFor(summarizers.of(settings), {
    countMade: () =>
      store.inProject(projectId, (tx) => countSummaries(tx, { threadId, sinceMs: clock.nowMs() - HOUR_MS })),
    record: (calls) =>
      store.inProject(projectId, (tx) => insertSummaryCalls(tx, { threadId, summaryId: snapshotId, calls })),
    onTooMany: (summaries) =>
      log.warn(
        { projectId, threadId, summaries },
        'too many summaries in an hour: this one is written without a model',
      ),
  })
  const isRemote = summarizer.isRemote === true
  const messages = sourcesOf(summarized, isRemote).slice(-(summarizer.messagesMax ?? Number.POSITIVE_INFINITY))
  const tokensMax = isRemote ? SUMMARY_TOKENS_MAX : EXTRACTIVE_TOKENS_MAX
  const request = { purpose: 'snapshot' as const, messages, previousSummary: null, tokensMax }
  let fault = ''
  for (let answers = 0; answers < ANSWERS_MAX; answers++) {
    const text = await answerOf(() => summarizer.summarize(request, signal))
    // A model's summarizer has requested another answer already.
    if (text === null) break
    const found = summaryFault(text, { tokensMax: SUMMARY_TOKENS_MAX, replacedTokens: 0 }) ?? sentencesFault(text)
    if (found === null) return text
    fault = found
  }
  log.warn({ projectId, snapshotId, fault }, 'the summary of a snapshot was refused: it is written without a model')
  const byRule = { ...request, tokensMax: EXTRACTIVE_TOKENS_MAX }
  return await runCooperatively(summarizeExtractivelyInSteps(byRule), { signal })
}

/** @returns null if the summarizer has refused the answers of its model */
async function answerOf(summary: () => Promise<string>): Promise<string | null> {
  try {
    return await summary()
  } catch (error) {
    if (error instanceof HeddleError && error.field === 'summary') return null
    throw error
  }
}

/** The same without a model: always two to four sentences. */
export async function summarizeByRule(summarized: SummarizedThreads): Promise<string> {
  const messages = sourcesOf(summarized, false)
  return await runCooperatively(
    summarizeExtractivelyInSteps({
      purpose: 'snapshot',
      messages,
      previousSummary: null,
      tokensMax: EXTRACTIVE_TOKENS_MAX,
    }),
  )
}

function sourcesOf({ threads }: SummarizedThreads, isRemote: boolean): SummarySource[] {
  return threads.flatMap((thread) => {
    const { messages, pairs } = readConversation(thread.messages)
    return summarySources(messages, pairs, ({ code }) => (code === '' ? '' : messageReference(code)), {
      charactersMax: SOURCE_CHARACTERS_MAX,
      ...(isRemote && { prepare: redactSecrets }),
    })
  })
}

function endOf({ messages }: AgentWindow['threads'][number]): number {
  return messages.at(-1)?.orderedAtMs ?? Number.NEGATIVE_INFINITY
}
