import { randomUUID } from 'node:crypto'
import { mergeSettings, type PartialSettings, type Settings } from '@heddle/contracts'
import { type CompactionPlan, type CompactionState, type Lane, laneOf, type Message, type Pruning } from '@heddle/core'
import { archiveEntries } from './archive.js'
import type { Tx } from './connection.js'
import { insertPrunings, loadPrunings, type PruningRow } from './prunings.js'
import { type ContextStateRow, insertState, loadStates } from './states.js'
import { loadThread, type ThreadRow } from './threads.js'

/** A compaction of the series, as the rules see it. */
export interface SeriesEntry {
  readonly row: ContextStateRow
  readonly state: CompactionState
}

/** Where the compaction of a thread stands in one lane. */
export interface Compaction {
  readonly thread: ThreadRow
  readonly settings: Settings
  readonly lane: Lane
  /** All compactions since the last clear, oldest first, without those that are void. */
  readonly series: readonly SeriesEntry[]
  /** The latest that is in force; null before the first. */
  readonly current: SeriesEntry | null
  /** One that waits for its summary; nothing goes on before it has it. */
  readonly pending: SeriesEntry | null
}

export interface CompactionQuery {
  readonly threadId: string
  /** Settings of the file and the environment, under the agent's. */
  readonly settings: PartialSettings
  /** Settings of a request, over all others. */
  readonly request?: PartialSettings
}

/** @returns null where there is no such thread */
export async function loadCompaction(
  tx: Tx,
  { threadId, settings, request = {} }: CompactionQuery,
): Promise<Compaction | null> {
  const thread = await loadThread(tx, { threadId })
  if (!thread) return null
  const merged = mergeSettings(settings, thread.agentSettings, thread.settings, request)
  const lane = laneOf(merged)
  const rows = await loadStates(tx, { threadId, lane: lane.key, clearEpoch: thread.clearEpoch })
  const prunings = rows.length === 0 ? [] : await loadPrunings(tx, { threadId, stateIds: rows.map((row) => row.id) })
  const series = inSeries(rows, prunings)
  return {
    thread,
    settings: merged,
    lane,
    series,
    current: series.findLast(({ row }) => row.status === 'ready') ?? null,
    pending: series.find(({ row }) => row.status === 'pending') ?? null,
  }
}

/** Each state inherits the prunings of those before it; of two about one message the later one holds. */
function inSeries(rows: readonly ContextStateRow[], prunings: readonly PruningRow[]): SeriesEntry[] {
  const byState = groupByState(prunings)
  const inForce = new Map<string, Pruning>()
  return rows.map((row) => {
    for (const pruning of byState.get(row.id) ?? []) inForce.set(pruning.messageId, pruning)
    return { row, state: toState(row, new Map(inForce)) }
  })
}

function groupByState(prunings: readonly PruningRow[]): Map<string, PruningRow[]> {
  const byState = new Map<string, PruningRow[]>()
  for (const pruning of prunings) {
    const group = byState.get(pruning.stateId)
    if (group) group.push(pruning)
    else byState.set(pruning.stateId, [pruning])
  }
  return byState
}

function toState(row: ContextStateRow, prunings: ReadonlyMap<string, Pruning>): CompactionState {
  const { point, headSeq, topIds, coveredFrom, coveredTo, summary, summaryTokens } = row
  const covered = coveredFrom && coveredTo ? { from: coveredFrom, to: coveredTo } : null
  return { point, headSeq, topIds, covered, summary, summaryTokens, prunings }
}

export interface PublishedPlan {
  readonly compaction: Compaction
  readonly plan: CompactionPlan
  /** The messages that the plan speaks of, by id. */
  readonly messages: ReadonlyMap<string, Message>
}

/**
 * Publishes a compaction: its state, what it decided about messages, and their full contents in the archive, in one
 * transaction. A compaction that needs a summary is pending until it has one.
 *
 * @returns false where another worker or a clear came first; then nothing is written
 */
export async function publishCompaction(tx: Tx, { compaction, plan, messages }: PublishedPlan): Promise<boolean> {
  const { thread, lane, current } = compaction
  const stateId = randomUUID()
  const isPublished = await insertState(tx, {
    id: stateId,
    threadId: thread.threadId,
    lane: lane.key,
    strategy: lane.strategy,
    clearEpoch: thread.clearEpoch,
    generation: (current?.row.generation ?? 0) + 1,
    replaces: current?.row.id ?? null,
    status: plan.needsSummary ? 'pending' : 'ready',
    point: plan.point,
    headSeq: thread.headSeq,
    topIds: plan.topIds,
    coveredFrom: plan.covered?.from ?? null,
    coveredTo: plan.covered?.to ?? null,
    coveredCount: (current?.row.coveredCount ?? 0) + plan.newlyCovered.length,
    coveredTokens:
      (current?.row.coveredTokens ?? 0) + plan.newlyCovered.reduce((sum, message) => sum + message.tokens, 0),
    summary: current?.row.summary ?? null,
    summaryTokens: current?.row.summaryTokens ?? 0,
    summarizer: current?.row.summarizer ?? null,
  })
  if (!isPublished) return false
  const archiveIds = await archiveEntries(
    tx,
    plan.prunings.map(({ archive }) => ({
      ...archive,
      threadId: thread.threadId,
      tokenCount: archive.tokens,
      originalCreatedAtMs: messages.get(archive.messageId)?.orderedAtMs ?? 0,
    })),
  )
  await insertPrunings(tx, {
    threadId: thread.threadId,
    prunings: plan.prunings.flatMap(({ messageId, action, text, tokens, reason }, index) => {
      const archiveId = archiveIds[index]
      return archiveId === undefined ? [] : [{ stateId, messageId, action, text, tokens, reason, archiveId }]
    }),
  })
  return true
}
