import { randomUUID } from 'node:crypto'
import { mergeSettings, type PartialSettings, type Settings } from '@heddle/contracts'
import {
  archivesOf,
  type CompactionPlan,
  type CompactionState,
  type Lane,
  type Ledger,
  laneOf,
  type Message,
  type Pruning,
  readsAsFailed,
  toPruning,
  withLearnt,
} from '@heddle/core'
import { archiveEntries } from '../archive/archive.js'
import type { Tx } from '../connection/connection.js'
import { loadThread, type ThreadRow } from '../threads/threads.js'
import { type KeptLaneRow, loadKeptLanes } from './kept-lanes.js'
import { insertPrunings, loadPruningsOf } from './prunings.js'
import { insertState, type NewContextState } from './publish-states.js'
import { type ContextStateRow, loadLatestStates } from './states.js'

/** The state of a thread's compaction in one lane. */
export interface Compaction {
  readonly thread: ThreadRow
  readonly settings: Settings
  readonly lane: Lane
  /** The latest compaction, with or without its summary; null before the first. */
  readonly latest: ContextStateRow | null
  /** The latest valid compaction: one that needs no summary, or has it. */
  readonly current: ContextStateRow | null
  /** The thread's own lane; null if this is it. */
  readonly own: OwnLane | null
}

/** The lane of a thread's own settings, as a request in another lane needs it. */
export interface OwnLane {
  readonly lane: Lane
  /** The latest compaction in force. */
  readonly current: ContextStateRow | null
  /** The lanes of earlier requests that are compacted besides. */
  readonly kept: readonly KeptLaneRow[]
}

export interface CompactionQuery {
  readonly threadId: string
  /** Settings of the file and the environment; those of the agent override them. */
  readonly settings: PartialSettings
  /** Settings of a request, which override all others. */
  readonly request?: PartialSettings
}

/** @returns null if there is no such thread */
export async function loadCompaction(
  tx: Tx,
  { threadId, settings, request = {} }: CompactionQuery,
): Promise<Compaction | null> {
  const thread = await loadThread(tx, { threadId })
  if (!thread) return null
  const merged = settingsIn(thread, settings, request)
  const lane = laneOf(merged)
  const ownLane = laneOf(settingsIn(thread, settings))
  if (ownLane.key === lane.key) return await compactionIn(tx, thread, merged, lane)
  const [compaction, own, kept] = await Promise.all([
    compactionIn(tx, thread, merged, lane),
    loadLatestStates(tx, { threadId, lane: ownLane.key, clearEpoch: thread.clearEpoch }),
    loadKeptLanes(tx, { threadId }),
  ])
  return { ...compaction, own: { lane: ownLane, current: inForce(own), kept } }
}

/** The settings of a thread, with what was learnt of its model's counts. */
export function settingsIn(thread: ThreadRow, settings: PartialSettings, request: PartialSettings = {}): Settings {
  const merged = mergeSettings(settings, thread.agentSettings, thread.settings, request)
  return withLearnt(merged, thread.calibrations)
}

/** The compaction of a thread in one lane. */
export async function compactionIn(tx: Tx, thread: ThreadRow, settings: Settings, lane: Lane): Promise<Compaction> {
  const { threadId, clearEpoch } = thread
  const rows = await loadLatestStates(tx, { threadId, lane: lane.key, clearEpoch })
  return { thread, settings, lane, latest: rows[0] ?? null, current: inForce(rows), own: null }
}

function inForce(rows: readonly ContextStateRow[]): ContextStateRow | null {
  return rows.find(({ status }) => status === 'ready') ?? null
}

/**
 * Whether the prune stage last ran with other settings than the current ones. A change of an agent's settings does not wake
 * the stage: the next message of a thread does, or the next request for its context.
 *
 * @param compaction as a request sees it
 */
export function isPrunedUnderOthers({ thread: { pruneUsage }, lane, own }: Compaction): boolean {
  return pruneUsage !== null && pruneUsage.lane !== (own?.lane ?? lane).key
}

/**
 * Whether a state covers messages and has no summary yet. That includes a `passed` state: if the state that passed it becomes
 * void, this one is the latest again and needs its summary.
 */
export function awaitsSummary({ status, coveredTo, summary }: ContextStateRow): boolean {
  return status !== 'void' && coveredTo !== null && summary === null
}

/** A state in the form of the compaction rules, without its prunings; see {@link withPrunings}. */
export function toCompactionState(row: ContextStateRow): CompactionState {
  const { point, headSeq, topIds, coveredFrom, coveredTo, summary, summaryTokens } = row
  const covered = coveredFrom && coveredTo ? { from: coveredFrom, to: coveredTo } : null
  return { point, headSeq, topIds, covered, summary, summaryTokens, prunings: new Map() }
}

/** Adds the valid prunings of some messages to a state; those of messages that it covers are not needed. */
export async function withPrunings(
  tx: Tx,
  row: ContextStateRow,
  state: CompactionState,
  messages: readonly Message[],
): Promise<CompactionState> {
  const prunings = new Map<string, Pruning>()
  const rows = await loadPruningsOf(tx, { state: row, messageIds: messages.map((message) => message.id) })
  for (const pruning of rows) prunings.set(pruning.messageId, pruning)
  return { ...state, prunings }
}

export interface PublishedPlan {
  /** The thread with the compaction that this one follows; see {@link publishCompaction}. */
  readonly compaction: Pick<Compaction, 'thread' | 'lane'> & { readonly latest: NewContextState | null }
  readonly plan: CompactionPlan
  /** The messages of the plan, by id. */
  readonly messages: ReadonlyMap<string, Message>
  /** The artifacts up to the point of the plan. */
  readonly ledger: Ledger | null
}

/**
 * Publishes a compaction: its state, its prunings, and the full contents of the pruned messages in the archive, in one
 * transaction. If its covered range grew, it is pending until it has a summary.
 *
 * @returns the state, on which another can be published; null if another worker or a clear came first, and nothing was
 *   written
 */
export async function publishCompaction(
  tx: Tx,
  { compaction, plan, messages, ledger }: PublishedPlan,
): Promise<NewContextState | null> {
  const { thread, lane, latest } = compaction
  const stateId = randomUUID()
  const summary = plan.needsSummary ? null : (latest?.summary ?? null)
  const state: NewContextState = {
    id: stateId,
    threadId: thread.threadId,
    lane: lane.key,
    strategy: lane.strategy.name,
    clearEpoch: thread.clearEpoch,
    generation: (latest?.generation ?? 0) + 1,
    replaces: latest?.id ?? null,
    status: plan.covered !== null && summary === null ? 'pending' : 'ready',
    point: plan.point,
    headSeq: thread.headSeq,
    topIds: plan.topIds,
    coveredFrom: plan.covered?.from ?? null,
    coveredTo: plan.covered?.to ?? null,
    coveredCount: (latest?.coveredCount ?? 0) + plan.newlyCovered.length,
    coveredTokens: (latest?.coveredTokens ?? 0) + plan.newlyCovered.reduce((sum, message) => sum + message.tokens, 0),
    summary,
    summaryTokens: summary === null ? 0 : (latest?.summaryTokens ?? 0),
    summarizer: summary === null ? null : (latest?.summarizer ?? null),
    ledger,
  }
  if (!(await insertState(tx, state))) return null
  const drafts = plan.prunings.flatMap(archivesOf)
  const archiveIds = await archiveEntries(
    tx,
    drafts.map((archive) => {
      const message = messages.get(archive.messageId)
      // A restored message is archived once, under its original.
      const { id: messageId, orderedAtMs } = message?.restores ?? { id: archive.messageId, orderedAtMs: 0, ...message }
      return {
        ...archive,
        messageId,
        threadId: thread.threadId,
        tokenCount: archive.tokens,
        failed: readsAsFailed(message, archive.summary),
        originalCreatedAtMs: orderedAtMs,
      }
    }),
  )
  const idOf = new Map(drafts.map((draft, index) => [draft, archiveIds[index]]))
  await insertPrunings(tx, {
    threadId: thread.threadId,
    prunings: plan.prunings.flatMap(({ archive, ...pruning }) => {
      const archiveId = idOf.get(archive)
      return archiveId === undefined ? [] : [{ ...toPruning(pruning), stateId, archiveId }]
    }),
  })
  return state
}
