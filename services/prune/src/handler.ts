import type { PartialSettings, WakeJob } from '@heddle/contracts'
import {
  type CompactionPlan,
  type CompactionState,
  comparePositions,
  isCovered,
  isOvertaken,
  type Message,
  messageReference,
  nextCompaction,
  positionOf,
  readConversation,
  stateAfter,
  usageUnder,
} from '@heddle/core'
import { done, type Job, type Outcome, refuseLargeJob, skipped, type WorkSize } from '@heddle/queue'
import {
  awaitsSummary,
  type Compaction,
  clearThreadFailure,
  findOvertaken,
  holdMarks,
  loadCompaction,
  loadUndone,
  type NewContextState,
  type PruneUsage,
  publishCompaction,
  type Store,
  settlePrune,
  type Tx,
  uncoveredSize,
  voidStates,
} from '@heddle/store'
import { asSent } from './counting.js'
import { growBelowTrigger } from './incremental-usage.js'
import { type Counted, firstLook, loadCounted, MESSAGES_LOOKED_AT_MAX } from './load-candidates.js'

export interface PruneDeps {
  /** Settings of the file and the environment, under those of agents. */
  readonly settings: PartialSettings
  readonly store: Store
  /** Largest input read in this process. Default: unlimited. */
  readonly sizeMax?: WorkSize | undefined
}

/** Compactions of one job; a longer backlog continues in the next job, so that the job ends before its lock expires. */
export const COMPACTIONS_PER_JOB_MAX = 20

const reference = (message: Message) => messageReference(message.code)

/**
 * Compacts a thread up to its head: counts new messages, and if the context has grown past its trigger, decides which
 * messages to condense or remove, archives them, and marks the range that needs a summary. The published series does not
 * depend on when it runs (docs/design.md#invariant-5).
 *
 * @throws LargeJobError if more has to be read than `sizeMax` allows
 */
export async function prune(job: Job<WakeJob>, deps: PruneDeps): Promise<Outcome> {
  const { projectId, threadId } = job.payload
  for (let round = 0; round < COMPACTIONS_PER_JOB_MAX && !job.signal.aborted; round++) {
    const step = await deps.store.inProject(projectId, (tx) => pruneOnce(tx, threadId, deps))
    if (step === 'gone') return skipped('the thread is gone')
    if (step === 'needs-summary') return done([{ wake: 'summarize', projectId, threadId }])
    if (step === 'settled') return done()
  }
  return done([{ wake: 'prune', projectId, threadId }])
}

type Step = 'gone' | 'again' | 'needs-summary' | 'settled'

async function pruneOnce(tx: Tx, threadId: string, { settings, sizeMax }: PruneDeps): Promise<Step> {
  // Pipelined in this order, so that marks are read after a concurrent undo.
  const [, compaction, undone] = await Promise.all([
    holdMarks(tx, threadId, 'read'),
    loadCompaction(tx, { threadId, settings }),
    loadUndone(tx, threadId),
  ])
  if (!compaction) return 'gone'
  // Undone messages are in the context again, so such a thread is always read.
  const { headSeq, pruneSeq } = compaction.thread
  const isLong = sizeMax !== undefined && headSeq - pruneSeq > sizeMax.messages
  const grown = undone.size > 0 || isLong ? null : await growBelowTrigger(tx, compaction, sizeMax)
  if (grown !== null) return await settlePruned(tx, compaction, grown)
  refuseLargeJob(uncoveredSize(compaction.thread, compaction.latest), sizeMax)
  let usage: number | null = null
  for (let limit = firstLook(compaction); ; limit = Math.min(2 * limit, MESSAGES_LOOKED_AT_MAX)) {
    const { messages, state, hasMore } = await loadCounted(tx, compaction, { limit, undone })
    if (await voidOvertaken(tx, compaction, state, messages)) return 'again'
    const isOff = compaction.settings.disableAutoSummarize
    const sent = asSent(messages, compaction)
    const plan = isOff ? null : nextCompaction(readConversation(sent), state, compaction.lane, reference)
    if (plan) {
      await publishSeries(tx, compaction, plan, { state, messages })
      return 'again'
    }
    usage = hasMore || undone.size > 0 ? null : usageUnder(sent, state, compaction.lane)
    // If the messages are many and small, those read may not reach the trigger.
    if (!hasMore || isOff || limit >= MESSAGES_LOOKED_AT_MAX) break
  }
  const { latest, lane } = compaction
  return await settlePruned(
    tx,
    compaction,
    usage === null ? null : { tokens: usage, stateId: latest?.id ?? null, lane: lane.key },
  )
}

/** Compactions in one transaction, so that it ends soon. */
const COMPACTIONS_AT_ONCE_MAX = 5

/**
 * Publishes a compaction and those that follow from the loaded messages. The rest of the loaded messages equals a new read,
 * which for each compaction would read a backlog many times.
 */
async function publishSeries(
  tx: Tx,
  compaction: Compaction,
  first: CompactionPlan,
  { state: before, messages }: Pick<Counted, 'state' | 'messages'>,
): Promise<void> {
  const { thread, lane, latest } = compaction
  let published: NewContextState | null = latest
  let [state, left] = [before, messages]
  let plan: CompactionPlan | null = first
  for (let count = 0; plan !== null && count < COMPACTIONS_AT_ONCE_MAX; count++) {
    published = await publishCompaction(tx, {
      compaction: { thread, lane, latest: published },
      plan,
      messages: byId(left),
    })
    if (published === null) return
    state = stateAfter(plan, state, thread.headSeq)
    left = left.filter((message) => !isCovered(message, state))
    plan = nextCompaction(readConversation(asSent(left, compaction)), state, lane, reference)
  }
}

async function settlePruned(tx: Tx, { thread, latest }: Compaction, usage: PruneUsage | null): Promise<Step> {
  const awaiting = latest !== null && awaitsSummary(latest)
  await settlePrune(tx, { thread, usage, awaitsSummary: awaiting })
  if (awaiting) return 'needs-summary'
  if (thread.lastError !== null) {
    await clearThreadFailure(tx, { threadId: thread.threadId, stages: ['prune', 'summarize'] })
  }
  return 'settled'
}

/** Voids compactions that a late message invalidates, so that they are computed again with it. */
async function voidOvertaken(
  tx: Tx,
  { thread, lane }: Compaction,
  state: CompactionState | null,
  messages: readonly Message[],
): Promise<boolean> {
  const late = state === null ? [] : messages.filter((message) => isOvertaken(state, message))
  const earliest = late.toSorted(comparePositions)[0]
  if (!earliest) return false
  const series = { threadId: thread.threadId, lane: lane.key, clearEpoch: thread.clearEpoch }
  const seq = Math.max(...late.map((message) => message.seq))
  const fromGeneration = await findOvertaken(tx, { ...series, seq, position: positionOf(earliest) })
  if (fromGeneration === null) return false
  await voidStates(tx, { ...series, fromGeneration })
  return true
}

function byId(messages: readonly Message[]): ReadonlyMap<string, Message> {
  return new Map(messages.map((message) => [message.id, message]))
}
