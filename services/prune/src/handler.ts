import type { PartialSettings, WakeJob } from '@heddle/contracts'
import {
  countMessageTokens,
  countTokens,
  isOvertaken,
  type Message,
  messageReference,
  nextCompaction,
  readConversation,
} from '@heddle/core'
import { done, type Job, type Outcome, skipped } from '@heddle/queue'
import {
  advanceCursor,
  clearThreadFailure,
  CONVERSATION_MESSAGES_MAX,
  type Compaction,
  loadCompaction,
  loadUncovered,
  publishCompaction,
  recordTokenCounts,
  type Store,
  type Tx,
  type Uncovered,
  type UncoveredQuery,
  voidStates,
} from '@heddle/store'

export interface PruneDeps {
  /** Settings of the file and the environment, under those of agents. */
  readonly settings: PartialSettings
  readonly store: Store
}

/** Compactions that one job carries out; a longer backlog goes on in the next job, so that no lock is outlived. */
export const COMPACTIONS_PER_JOB_MAX = 20

const reference = (message: Message) => messageReference(message.code)

/**
 * Brings a thread's compactions up to its head: counts what is new, and where the context has grown past its trigger,
 * decides what to condense or remove, archives it, and says which range needs a summary. The series that it publishes
 * does not depend on when it runs (DESIGN: invariant 5).
 */
export async function prune(job: Job<WakeJob>, deps: PruneDeps): Promise<Outcome> {
  const { projectId, threadId } = job.payload
  for (let round = 0; round < COMPACTIONS_PER_JOB_MAX; round++) {
    const step = await deps.store.inProject(projectId, (tx) => pruneOnce(tx, threadId, deps.settings))
    if (step === 'gone') return skipped('the thread is gone')
    if (step === 'awaits-summary') return done([{ wake: 'summarize', projectId, threadId }])
    if (step === 'settled') return done()
    if (job.signal.aborted) break
  }
  return done([{ wake: 'prune', projectId, threadId }])
}

type Step = 'gone' | 'awaits-summary' | 'settled' | 'again'

async function pruneOnce(tx: Tx, threadId: string, settings: PartialSettings): Promise<Step> {
  const compaction = await loadCompaction(tx, { threadId, settings })
  if (!compaction) return 'gone'
  const { thread, lane, current, pending } = compaction
  const latest = pending ?? current
  let limit = CONVERSATION_MESSAGES_MAX
  for (;;) {
    const query = {
      threadId,
      clearedSeq: thread.clearedSeq,
      state: latest?.state ?? null,
      keep: 'oldest' as const,
      limit,
    }
    const { messages, hasMore } = await loadCounted(tx, query)
    const overtaken = firstOvertaken(compaction, messages)
    if (overtaken !== null) {
      await voidStates(tx, { threadId, lane: lane.key, clearEpoch: thread.clearEpoch, fromGeneration: overtaken })
      return 'again'
    }
    if (pending) return 'awaits-summary'
    const conversation = readConversation(messages)
    const isOff = compaction.settings.disableAutoSummarize
    const plan = isOff ? null : nextCompaction(conversation, current?.state ?? null, lane, reference)
    if (plan) {
      const published = await publishCompaction(tx, { compaction, plan, messages: byId(conversation.messages) })
      return published && plan.needsSummary ? 'awaits-summary' : 'again'
    }
    if (!hasMore || isOff) break
    // Many small messages: a compaction may be due beyond what was read.
    limit *= 2
  }
  await advanceCursor(tx, { threadId, stage: 'prune', fromSeq: thread.pruneSeq, toSeq: thread.headSeq })
  await advanceCursor(tx, { threadId, stage: 'summarize', fromSeq: thread.summarizeSeq, toSeq: thread.headSeq })
  await clearThreadFailure(tx, { threadId })
  return 'settled'
}

/** Messages with exact counts; those that were only estimated are counted now, and the counts kept. */
async function loadCounted(tx: Tx, query: UncoveredQuery): Promise<Uncovered> {
  const { messages, hasMore } = await loadUncovered(tx, query)
  const fresh = messages
    .filter((message) => !message.tokensExact)
    .map((message) => ({ ...message, tokens: countMessageTokens(message, countTokens), tokensExact: true }))
  const counts = fresh.map(({ seq, tokens }) => ({ seq, tokens }))
  await recordTokenCounts(tx, { threadId: query.threadId, counts })
  const counted = byId(fresh)
  return { messages: messages.map((message) => counted.get(message.id) ?? message), hasMore }
}

/** The generation of the first compaction that a late message overtook, or null. */
function firstOvertaken({ series }: Compaction, messages: readonly Message[]): number | null {
  const found = series.find(({ state }) => messages.some((message) => isOvertaken(state, message)))
  return found?.row.generation ?? null
}

function byId(messages: readonly Message[]): ReadonlyMap<string, Message> {
  return new Map(messages.map((message) => [message.id, message]))
}
