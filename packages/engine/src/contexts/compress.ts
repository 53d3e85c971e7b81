import { checkDeadline } from '@heddle/client/calls'
import { type CompressOptions, DEADLINE_MS_DEFAULT } from '@heddle/client/interface'
import { type CompressResult, compressSchema, PermanentError, parse, RetryableError } from '@heddle/contracts'
import {
  type CompactionPlan,
  extendLedger,
  messageReference,
  planCompaction,
  planOnDemand,
  readConversation,
  threadIdOf,
} from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import { type Compaction, holdMarks, loadLedger, publishCompaction } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'
import { waitFor } from '../setup/waiting.js'
import { compactionOf, loadUncompacted } from './prune-plan.js'

/**
 * Compacts a thread up to its last finished turn, whether or not a compaction is due, and waits until the summary stage has
 * written its summary. A thread without anything left to compact stays as it is.
 *
 * @throws PermanentError `NOT_FOUND`; `VALIDATION_ERROR` for a thread without messages
 * @throws RetryableError `SERVICE_UNAVAILABLE` if the summary could not be written: contexts show the previous one, and the
 *   messages after it; `TIMEOUT` if it is not written by the deadline
 */
export async function compress(parts: EngineContext, options: CompressOptions): Promise<CompressResult> {
  const { deadlineMs = DEADLINE_MS_DEFAULT, signal, ...given } = options
  const target = parse(compressSchema, given, 'compress')
  checkDeadline(deadlineMs)
  const threadId = threadIdOf(parts.projectId, target.thread)
  const endsAtMs = parts.clock.monotonicMs() + deadlineMs
  const what = `the summary of thread "${target.thread}"`
  const wait = () => ({
    what,
    deadlineMs: Math.max(1, endsAtMs - parts.clock.monotonicMs()),
    signal,
    clock: parts.clock,
  })
  // A summary that is under way is part of what is compacted.
  await untilSummarized(parts, target, wait())
  const wakePrune = () => parts.queues.wake('prune', { projectId: parts.projectId, threadId })
  const made = await parts.store.inProject(parts.projectId, async (tx) => {
    await holdMarks(tx, threadId, 'read')
    const compaction = await compactionOf(tx, parts, target)
    const { messages: read, state, hasMore } = await loadUncompacted(tx, compaction)
    if (hasMore) return null
    // The state names the head up to which it has seen the thread.
    const messages = read.filter(({ seq }) => seq <= compaction.thread.headSeq)
    if (messages.length === 0 && state === null) throw noMessagesIn(target.thread)
    const conversation = readConversation(messages)
    const { usage } = planCompaction(conversation, state, compaction.lane, reference)
    const plan = planOnDemand(conversation, state, compaction.lane, reference)
    if (plan === null) return { usage, plan }
    const byId = new Map(messages.map((message) => [message.id, message]))
    const { latest, lane } = compaction
    const known = latest === null ? null : await loadLedger(tx, { stateId: latest.id })
    const range = { conversation, after: state?.point ?? null, to: plan.point, tools: lane.tools }
    const ledger = await runCooperatively(extendLedger(known, range))
    if ((await publishCompaction(tx, { compaction, plan, messages: byId, ledger })) === null)
      throw behind(target.thread)
    return { usage, plan }
  })
  if (made === null) {
    await wakePrune()
    throw behind(target.thread)
  }
  const { usage, plan } = made
  if (plan !== null) await wakePrune()
  const { current, thread } = await untilSummarized(parts, target, wait())
  const tokensAfter = plan === null ? usage : await usageNow(parts, target)
  return {
    thread: thread.name,
    agent: thread.agentName,
    compacted: plan !== null,
    tokensBefore: usage,
    tokensAfter,
    ...countsOf(plan),
    summary: summaryOf(current),
  }
}

type Target = Parameters<typeof compactionOf>[2]

const reference = ({ code }: { readonly code: string }) => messageReference(code)

/** The tokens of the thread as contexts show it, with the summary that was written. */
async function usageNow(parts: EngineContext, target: Target): Promise<number> {
  return await parts.store.inProject(parts.projectId, async (tx) => {
    const compaction = await compactionOf(tx, parts, target)
    const { messages, state } = await loadUncompacted(tx, compaction)
    return planCompaction(readConversation(messages), state, compaction.lane, reference).usage
  })
}

/** Has the summary written that a compaction of the thread's own lane waits for, if any. */
async function untilSummarized(
  parts: EngineContext,
  target: Target,
  wait: Parameters<typeof waitFor>[1],
): Promise<Compaction> {
  let found: Compaction | undefined
  /** When an earlier failure may be retried; undefined before the first read. */
  let retryAtMs: number | null | undefined
  await waitFor(async () => {
    found = await parts.store.inProject(parts.projectId, (tx) => compactionOf(tx, parts, target))
    const { latest, thread } = found
    const isPending = latest?.status === 'pending'
    if (isPending && retryAtMs === undefined) {
      retryAtMs = thread.retryAtMs
      await parts.queues.wake('summarize', { projectId: parts.projectId, threadId: thread.threadId })
    } else if (isPending && thread.lastError !== null && thread.retryAtMs !== retryAtMs) {
      throw new RetryableError('SERVICE_UNAVAILABLE', `the summary was not written: ${thread.lastError}`, {
        hint: 'Contexts show the previous summary and the messages after it. `heddle doctor` checks the summarizer.',
      })
    }
    return { isDone: !isPending, facts: { stateId: latest?.id ?? null } }
  }, wait)
  return found as Compaction
}

function countsOf(
  plan: CompactionPlan | null,
): Pick<CompressResult, 'condensed' | 'stubbed' | 'removed' | 'summarized'> {
  const count = (kind: string) => plan?.prunings.filter(({ action }) => action === kind).length ?? 0
  return {
    condensed: count('condense'),
    stubbed: count('stub'),
    removed: count('remove'),
    summarized: plan?.newlyCovered.length ?? 0,
  }
}

function summaryOf(current: Compaction['current']): CompressResult['summary'] {
  if (current === null || current.summary === null) return null
  const { id, summary: text, summaryTokens: tokens, coveredCount, summarizer } = current
  return { id, text, tokens, coveredCount, summarizer: summarizer ?? 'unknown' }
}

function behind(thread: string): RetryableError {
  return new RetryableError('SERVICE_UNAVAILABLE', `thread "${thread}" is being compacted`, {
    retryAfter: 1,
    hint: 'Try again when the prune stage has read the whole thread; `heddle queues` shows waiting jobs.',
  })
}

function noMessagesIn(thread: string): PermanentError {
  return new PermanentError('VALIDATION_ERROR', 'Conversation has no messages', { field: 'thread', received: thread })
}
