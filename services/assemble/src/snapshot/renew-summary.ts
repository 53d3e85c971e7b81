import { errorData, HeddleError, mergeSettings, RetryableError, type SnapshotJob } from '@heddle/contracts'
import { type Message, ofSnapshotMessage, type SnapshotFile } from '@heddle/core'
import { done, type Job, type Outcome, skipped } from '@heddle/queue'
import { withDeadline } from '@heddle/runtime'
import { loadAgent, loadSnapshot, renewSnapshotSummary, type SnapshotRow } from '@heddle/store'
import type { SaveSnapshotDeps } from './snapshot-deps.js'
import {
  type SnapshotSummary,
  SUMMARY_MS_MAX,
  type SummarizedThreads,
  summarize,
  summarizeByRule,
} from './snapshot-summary.js'

/** Attempts with a model; nobody waits for the summary, but a snapshot shall not be without one for long. */
const ATTEMPTS_MAX = 3

/**
 * Summarizes what is left of a saved snapshot whose summary was removed with erased messages. It is stored only if the snapshot lost
 * nothing more meanwhile, so an erasure is never undone, and a second worker changes nothing. If the model fails for good, the summary
 * is made without it. The reconciler finds a snapshot whose job was lost; its file is written by the sweep.
 *
 * @throws HeddleError of the model, to be tried again
 */
export async function renewSummary(
  job: Job<SnapshotJob>,
  { id, agentName, erasedCount }: SnapshotRow,
  deps: SaveSnapshotDeps,
): Promise<Outcome> {
  const { store, settings } = deps
  const { projectId } = job.payload
  const [file, agent] = await store.inProject(projectId, (tx) =>
    Promise.all([loadSnapshot(tx, { id }), loadAgent(tx, { name: agentName })]),
  )
  if (file === null || agent === null) return skipped('the snapshot is gone')
  const summarized = { threads: threadsOf(file), settings: mergeSettings(settings, agent.settings) }
  const summary = await summaryOf(summarized, job, deps)
  job.signal.throwIfAborted()
  const renewed = { ...file, summary: summary.text }
  const isStored = await store.inProject(projectId, (tx) =>
    renewSnapshotSummary(tx, { file: renewed, summaryError: summary.error, erasedCount }),
  )
  return isStored ? done() : skipped('the snapshot has changed: what is left to do is found again')
}

async function summaryOf(
  summarized: SummarizedThreads,
  { payload: { projectId, snapshotId }, attempt, attemptsMax, signal }: Job<SnapshotJob>,
  deps: SaveSnapshotDeps,
): Promise<SnapshotSummary> {
  const timeoutMs = SUMMARY_MS_MAX
  const late = () => new RetryableError('TIMEOUT', `the summary did not finish within ${timeoutMs} ms`)
  const work = (either: AbortSignal) => summarize(summarized, { projectId, snapshotId }, either, deps)
  try {
    return { text: await withDeadline(work, { timeoutMs, late, signal, clock: deps.clock }), error: null }
  } catch (error) {
    signal.throwIfAborted()
    const isFinal = error instanceof HeddleError && error.disposition !== 'retry'
    if (!isFinal && attempt < Math.min(ATTEMPTS_MAX, attemptsMax)) throw error
    deps.log.warn({ error, projectId, snapshotId }, 'the summary of a snapshot is made again without a model')
    const { code, detail } = errorData(error)
    return { text: await summarizeByRule(summarized), error: `${code}: ${detail}` }
  }
}

function threadsOf({ messages }: SnapshotFile): SummarizedThreads['threads'] {
  const threads = new Map<string, Message[]>()
  for (const [place, message] of messages.entries()) {
    const own = threads.get(message.thread_id) ?? []
    own.push(ofSnapshotMessage(message, place))
    threads.set(message.thread_id, own)
  }
  return [...threads].map(([threadId, own]) => ({ threadId, messages: own }))
}
