import type { PartialSettings, PrunedCounts, WakeJob, WakeStageName } from '@heddle/contracts'
import {
  type CompactionPlan,
  type CompactionState,
  comparePositions,
  extendLedger,
  isCovered,
  isLeafAhead,
  isOvertaken,
  isSummarizedInParts,
  type Message,
  messageReference,
  nextCompaction,
  positionOf,
  readConversation,
  stateAfter,
  usageUnder,
} from '@heddle/core'
import { done, type Job, type Outcome, refuseLargeJob, skipped, type WorkSize } from '@heddle/queue'
import { type Logger, runCooperatively } from '@heddle/runtime'
import {
  type Compaction,
  clearThreadFailure,
  commitBehind,
  dropSurplusLanes,
  findOvertaken,
  hasNewReports,
  holdMarks,
  learnFromReplies,
  loadCompaction,
  loadKeptLanes,
  loadLedger,
  loadPins,
  loadUndone,
  type NewContextState,
  publishCompaction,
  type Store,
  settlePrune,
  type Tx,
  uncoveredSize,
  voidStates,
} from '@heddle/store'
import { asSent } from './counting.js'
import { growBelowTrigger, isKnown, loadAdded } from './incremental-usage.js'
import { isAwaiting, loadLanes, storedUsages, type ThreadLane } from './lanes.js'
import { type Counted, firstReadLimit, loadCounted, type Marks, MESSAGES_READ_MAX } from './load-candidates.js'

export interface PruneDeps {
  /** Settings of the file and the environment, under those of agents. */
  readonly settings: PartialSettings
  readonly store: Store
  readonly log?: Pick<Logger, 'info'> | undefined
  /** Called after the commit of compactions. */
  readonly onPruned?: ((projectId: string, pruned: Pruned) => void) | undefined
  /** Largest input read in this process. Default: unlimited. */
  readonly sizeMax?: WorkSize | undefined
}

/** Compactions of one job; a longer backlog continues in the next job, so that the job ends before its lock expires. */
export const COMPACTIONS_PER_JOB_MAX = 20

const reference = (message: Message) => messageReference(message.code)

/**
 * Compacts a thread up to its head in each of its lanes, its own first: counts new messages, and if the context has grown
 * past its trigger, decides which messages to condense or remove, archives them, and marks the range that needs a summary.
 * The published series does not depend on when it runs (docs/design.md#invariant-5).
 *
 * All lanes share one cursor, which moves once all of them are at the head: a crash between two lanes leaves the thread
 * behind, where the reconciler finds it.
 *
 * @throws LargeJobError if more has to be read than `sizeMax` allows
 */
export async function prune(job: Job<WakeJob>, deps: PruneDeps): Promise<Outcome> {
  const { projectId, threadId } = job.payload
  const wake = { projectId, threadId }
  let step: Step = { kind: 'busy', lane: null, awaitsSummary: false, pruned: null }
  for (let round = 0; round < COMPACTIONS_PER_JOB_MAX && !job.signal.aborted && step.kind === 'busy'; round++) {
    const lane: string | null = step.lane
    step = await deps.store.inProject(projectId, (tx) => pruneOnce(tx, threadId, lane, deps))
    if (step.kind !== 'busy' || step.pruned === null) continue
    deps.log?.info({ projectId, threadId, ...step.pruned.counts }, 'context pruned')
    deps.onPruned?.(projectId, step.pruned)
  }
  if (step.kind === 'gone') return skipped('the thread is gone')
  const isLeft = {
    prune: step.kind === 'busy',
    // The agent's own summary does not wait for the lanes of requests.
    summarize: step.awaitsSummary,
    remember: step.kind === 'settled' && step.remembers,
  } as const satisfies Partial<Record<WakeStageName, boolean>>
  const stages = (['prune', 'summarize', 'remember'] as const).filter((stage) => isLeft[stage])
  return done(stages.map((stage) => ({ wake: stage, ...wake })))
}

type Step =
  | { readonly kind: 'gone' }
  /** A lane was compacted, or made void, and may be due again; null for the first. */
  | ({ readonly kind: 'busy'; readonly lane: string | null; readonly awaitsSummary: boolean } & Published)
  /**
   * All lanes are at the head; `awaitsSummary` also if parts of a summary can be made ahead, `remembers` if facts of messages are
   * left to read.
   */
  | { readonly kind: 'settled'; readonly awaitsSummary: boolean; readonly remembers: boolean }

interface Published {
  /** The sum over the compactions that were published; null if others were made void instead. */
  readonly pruned: Pruned | null
}

/** The result of compactions of a thread. */
export interface Pruned {
  readonly threadId: string
  /** The compactions that are in force at once: those that need no summary, or have it. */
  readonly readyStateIds: readonly string[]
  readonly counts: PrunedCounts
}

/** @param busyLane the lane that is likely not at the head yet: until it is, the others are not looked at */
async function pruneOnce(tx: Tx, threadId: string, busyLane: string | null, deps: PruneDeps): Promise<Step> {
  // Pipelined in this order, so that marks are read after a concurrent undo.
  const [, own, undone, pins, kept, isReported] = await Promise.all([
    holdMarks(tx, threadId, 'read'),
    loadCompaction(tx, { threadId, settings: deps.settings }),
    loadUndone(tx, threadId),
    loadPins(tx, threadId),
    loadKeptLanes(tx, { threadId }),
    hasNewReports(tx, { threadId }),
  ])
  if (!own) return { kind: 'gone' }
  const lanes = await loadLanes(tx, own, kept, deps.settings)
  // Undone messages are in the context again, so such a thread is always read.
  const canGrow = undone.size === 0 && lanes.some(({ compaction, known }) => isKnown(compaction, known))
  const added = canGrow ? await loadAdded(tx, own, deps.sizeMax) : null
  const marks = { undone, pins }
  const usages = new Map<Compaction, number | null>()
  for (const { compaction, known } of busyFirst(lanes, busyLane)) {
    const tokens = growBelowTrigger(compaction, known, added) ?? (await compactOnce(tx, compaction, marks, deps))
    if (tokens !== null && typeof tokens === 'object') {
      const awaitsSummary = compaction !== own && isAwaiting(own)
      return { kind: 'busy', lane: compaction.lane.key, awaitsSummary, ...tokens }
    }
    usages.set(compaction, tokens)
  }
  const isPending = lanes.some(({ compaction }) => isAwaiting(compaction))
  if (kept.length > 0) await dropSurplusLanes(tx, own, kept)
  const { thread } = own
  if (isReported && own.settings.calibration.enabled) await learn(tx, own, deps)
  const remembers = own.settings.remember !== 'off'
  const isFailureOver = !isPending && thread.lastError !== null
  await Promise.all([
    settlePrune(tx, {
      thread,
      ...storedUsages(own, usages),
      awaitsSummary: isPending,
      remembers,
      keptLanes: kept.map(({ lane }) => lane),
    }),
    isFailureOver &&
      clearThreadFailure(tx, {
        threadId,
        stages: ['prune', 'summarize', ...(remembers ? [] : ['remember' as const])],
      }),
    commitBehind(tx),
  ])
  return {
    kind: 'settled',
    awaitsSummary: isPending || isDueAhead(own, usages.get(own) ?? null),
    remembers: remembers && (thread.rememberSeq ?? Math.max(thread.pruneSeq, thread.sharedSeq)) < thread.headSeq,
  }
}

/** Corrects the limits of later jobs, not of this one, by the counts of providers. */
async function learn(tx: Tx, { thread: { agentId } }: Compaction, { log }: PruneDeps): Promise<void> {
  const models = await learnFromReplies(tx, { agentId })
  if (models.length > 0) log?.info({ agentId, models }, 'calibration changed')
}

/** Whether the thread has grown by another leaf of a summary that is not due yet. */
function isDueAhead({ thread, lane, latest, settings }: Compaction, usage: number | null): boolean {
  if (usage === null || settings.disableAutoSummarize) return false
  const { pruneUsage, headSeq, clearedSeq } = thread
  if (!isSummarizedInParts(lane, headSeq - clearedSeq)) return false
  const isSameState = pruneUsage?.lane === lane.key && pruneUsage.stateId === (latest?.id ?? null)
  return isLeafAhead(isSameState ? pruneUsage.tokens : null, usage, lane)
}

function busyFirst(lanes: readonly ThreadLane[], busyLane: string | null): ThreadLane[] {
  const isBusy = ({ compaction }: ThreadLane) => compaction.lane.key === busyLane
  return [...lanes.filter(isBusy), ...lanes.filter((one) => !isBusy(one))]
}

/**
 * Reads what a lane's compactions left of the thread, and publishes the next compactions if they are due.
 *
 * @returns the tokens of the context if no compaction is due, null if they have to be read again; or the changes that were published
 * @throws LargeJobError if more has to be read than `sizeMax` allows
 */
async function compactOnce(
  tx: Tx,
  compaction: Compaction,
  marks: Marks,
  { sizeMax }: PruneDeps,
): Promise<number | null | Published> {
  refuseLargeJob(uncoveredSize(compaction.thread, compaction.latest), sizeMax)
  for (let limit = firstReadLimit(compaction); ; limit = Math.min(2 * limit, MESSAGES_READ_MAX)) {
    const { messages, state, hasMore } = await loadCounted(tx, compaction, { limit, marks })
    if (await voidOvertaken(tx, compaction, state, messages)) return { pruned: null }
    const isOff = compaction.settings.disableAutoSummarize
    const sent = asSent(messages, compaction)
    const plan = isOff ? null : nextCompaction(readConversation(sent), state, compaction.lane, reference)
    if (plan) return { pruned: await publishSeries(tx, compaction, plan, { state, messages }) }
    // If the messages are many and small, those read may not reach the trigger.
    if (!hasMore || isOff || limit >= MESSAGES_READ_MAX)
      return hasMore || marks.undone.size > 0 ? null : usageUnder(sent, state, compaction.lane)
  }
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
): Promise<Pruned | null> {
  const { thread, lane, latest } = compaction
  const plans: CompactionPlan[] = []
  const readyStateIds: string[] = []
  let ledger = latest === null ? null : await loadLedger(tx, { stateId: latest.id })
  let conversation = readConversation(messages)
  let published: NewContextState | null = latest
  let [state, left] = [before, messages]
  let plan: CompactionPlan | null = first
  for (let count = 0; plan !== null && count < COMPACTIONS_AT_ONCE_MAX; count++) {
    const range = { conversation, after: state?.point ?? null, to: plan.point, tools: lane.tools }
    ledger = await runCooperatively(extendLedger(ledger, range))
    published = await publishCompaction(tx, {
      compaction: { thread, lane, latest: published },
      plan,
      messages: byId(left),
      ledger,
    })
    if (published === null) break
    plans.push(plan)
    if (published.status === 'ready') readyStateIds.push(published.id)
    state = stateAfter(plan, state, thread.headSeq)
    left = left.filter((message) => !isCovered(message, state))
    conversation = readConversation(left)
    plan = nextCompaction(readConversation(asSent(left, compaction)), state, lane, reference)
  }
  return plans.length === 0 ? null : { threadId: thread.threadId, readyStateIds, counts: sumOf(plans) }
}

function sumOf(plans: readonly CompactionPlan[]): PrunedCounts {
  const actions = plans.flatMap(({ prunings }) => prunings.map(({ action }) => action))
  const count = (kind: (typeof actions)[number]) => actions.filter((action) => action === kind).length
  return {
    compactions: plans.length,
    condensed: count('condense'),
    stubbed: count('stub'),
    removed: count('remove'),
    tokensSaved: plans.reduce((sum, { freedTokens }) => sum + freedTokens, 0),
  }
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
