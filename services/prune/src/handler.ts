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
  /** What may be read and computed with here. Default everything. */
  readonly sizeMax?: WorkSize | undefined
}

/** Compactions that one job carries out; a longer backlog goes on in the next job, so that no lock is outlived. */
export const COMPACTIONS_PER_JOB_MAX = 20

const reference = (message: Message) => messageReference(message.code)

/**
 * Brings a thread's compactions up to its head: counts what is new, and where the context has grown past its trigger,
 * decides what to condense or remove, archives it, and says which range needs a summary. The series that it publishes
 * does not depend on when it runs (docs/design.md#invariant-5).
 *
 * @throws LargeJobError where more is to be read than may be here
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
  // Sent at once and run in this order, so that marks are read after an undoing that was under way.
  const [, compaction, undone] = await Promise.all([
    holdMarks(tx, threadId, 'read'),
    loadCompaction(tx, { threadId, settings }),
    loadUndone(tx, threadId),
  ])
  if (!compaction) return 'gone'
  // What was undone stands in the context again: such a thread is always read.
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
    // Of many small messages, those that were read may not reach the trigger.
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
 * Publishes a compaction, and those after it that follow from the messages at hand: read again for each of them, a backlog
 * would be read many times. What is left of the messages is what would be read.
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

/** Makes the compactions void that a late message overtook, so that they are made again with it. */
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
