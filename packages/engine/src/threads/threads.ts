import { checkDeadline } from '@heddle/client/calls'
import type { ListThreadsOptions, SettleOptions, StateOverview, ThreadOverview } from '@heddle/client/interface'
import { DEADLINE_MS_DEFAULT, type Page } from '@heddle/client/interface'
import { nameSchema, notFound, parse, type ThreadSummary } from '@heddle/contracts'
import { agentIdOf, type HiddenMessages, hiddenText, remedies, sentTokens, threadIdOf } from '@heddle/core'
import {
  type Compaction,
  type ContextStateRow,
  countByRole,
  countPrunings,
  countTurns,
  countWindow,
  listStates,
  listThreads,
  loadCompaction,
  loadForkMoment,
  loadSummaryCosts,
  loadThreadSizes,
  type RoleCount,
  type WindowCounts,
} from '@heddle/store'
import { type CursorList, NAME_PLACE, pageOf, placeAt } from '../setup/cursors.js'
import { isoTime } from '../setup/iso-time.js'
import { checkPageLimit, type EngineContext } from '../setup/options.js'
import { waitFor } from '../setup/waiting.js'

export async function listAllThreads(
  parts: EngineContext,
  options: ListThreadsOptions = {},
): Promise<Page<ThreadSummary>> {
  const { agent, search, limit = 100 } = options
  checkPageLimit(limit)
  const list: CursorList = { kind: 'threads', ownerId: parts.projectId }
  const [afterName] = placeAt(list, options, NAME_PLACE) ?? []
  const threads = await parts.store.inProject(parts.projectId, (tx) =>
    listThreads(tx, {
      limit,
      ...(agent !== undefined && { agentId: agentIdOf(parts.projectId, agent) }),
      search,
      afterName,
    }),
  )
  const items = threads.map(
    ({ agentName, lastMessageAtMs, createdAtMs, pruneSeq, summarizeSeq, embedSeq, rememberSeq, ...thread }) => ({
      ...thread,
      agent: agentName,
      cursors: { prune: pruneSeq, summarize: summarizeSeq, embed: embedSeq, remember: rememberSeq },
      lastMessageAt: isoTime(lastMessageAtMs),
      createdAt: isoTime(createdAtMs),
    }),
  )
  return pageOf(items, { list, limit })
}

const STATES_SHOWN_MAX = 50

/** @throws PermanentError `NOT_FOUND` */
export async function getThread(parts: EngineContext, name: string): Promise<ThreadOverview> {
  const threadId = threadIdOf(parts.projectId, parse(nameSchema, name, 'thread'))
  const found = await parts.store.inProject(parts.projectId, async (tx) => {
    const compaction = await loadCompaction(tx, { threadId, settings: parts.settings })
    if (!compaction) return null
    const { thread, lane, settings } = compaction
    const { rollingWindow } = settings
    const series = { threadId, lane: lane.key, clearEpoch: thread.clearEpoch }
    const [forked, roles, sizes, states, prunings, summaryCosts, counts, taken] = await Promise.all([
      loadForkMoment(tx, threadId),
      countByRole(tx, { threadId }),
      loadThreadSizes(tx, { threadId }),
      listStates(tx, { ...series, limit: STATES_SHOWN_MAX }),
      countPrunings(tx, series),
      loadSummaryCosts(tx, { threadId }),
      countWindow(tx, { rollingWindow, ...thread, nowMs: parts.clock.nowMs() }),
      countTurns(tx, { threadId }),
    ])
    return {
      thread,
      forked,
      lane,
      roles,
      sizes,
      states,
      prunings,
      summaryCosts,
      window: windowOverview(compaction, counts),
      turns: { taken, max: settings.maxChatTurns },
    }
  })
  if (!found) throw notFound('thread', name, 'see `heddle threads list`')
  const { thread, forked, lane, roles, sizes, states, prunings, summaryCosts, window, turns } = found
  return {
    threadId,
    name: thread.name,
    code: thread.code,
    agent: thread.agentName,
    title: thread.title,
    goal: thread.goal,
    status: thread.status,
    ...totals(roles),
    ...window,
    tokens: sizes.tokens,
    reasoningTokens: sizes.reasoningTokens,
    uncounted: sizes.uncounted,
    sentTokens: sentTokens(sizes),
    turns,
    headSeq: thread.headSeq,
    forkedFrom: forked && { thread: forked.parentName, seq: forked.atSeq },
    cursors: {
      prune: thread.pruneSeq,
      summarize: thread.summarizeSeq,
      embed: thread.embedSeq,
      remember: thread.rememberSeq,
    },
    lastError: thread.lastError,
    states: states.map((row) => stateOf(row, lane.limitTokens)),
    prunings,
    summaryCosts,
  }
}

function stateOf(row: ContextStateRow, limitTokens: number): StateOverview {
  const { id, generation, status, strategy, coveredCount, coveredTokens, summary, summaryTokens, summarizer } = row
  const covered = { coveredCount, coveredTokens }
  return { id, generation, status, strategy, limitTokens, ...covered, summary, summaryTokens, summarizer }
}

function windowOverview(
  { thread, settings: { rollingWindow } }: Compaction,
  { inWindow, imported, outsideWindow, beforeClear }: WindowCounts,
): Pick<ThreadOverview, 'eligible' | 'imported' | 'hidden' | 'warnings'> {
  const hidden: HiddenMessages = {
    thread: thread.name,
    agent: thread.agentName,
    outsideWindow,
    beforeClear,
    imported,
    rollingWindow,
    windowOf: thread.settings.rollingWindow === undefined ? 'agent' : 'thread',
  }
  const isHiding = outsideWindow + beforeClear > 0
  return {
    eligible: inWindow.eligible,
    imported,
    hidden: { outsideWindow, beforeClear },
    warnings: isHiding ? [[hiddenText(hidden), ...remedies(hidden)].join('; ')] : [],
  }
}

function totals(
  roles: readonly RoleCount[],
): Pick<ThreadOverview, 'messages' | 'keptAside' | 'byRole' | 'toolCalls' | 'toolResults'> {
  const sum = (rows: readonly { count: number }[]) => rows.reduce((total, row) => total + row.count, 0)
  const aside = roles.filter((row) => row.aside !== null)
  const grouped = (rows: readonly RoleCount[], key: (row: RoleCount) => string) => {
    const groups: Record<string, number> = {}
    for (const row of rows) groups[key(row)] = (groups[key(row)] ?? 0) + row.count
    return groups
  }
  return {
    messages: sum(roles),
    keptAside: grouped(aside, (row) => row.aside ?? ''),
    byRole: grouped(roles, (row) => row.role),
    toolCalls: roles.reduce((total, row) => total + row.toolCalls, 0),
    toolResults: sum(roles.filter((row) => row.role === 'tool_result')),
  }
}

/**
 * Waits until every stage has processed the thread up to its head and its last iteration.
 *
 * @throws RetryableError `TIMEOUT` at the deadline, with the progress of each stage
 */
export async function waitUntilSettled(parts: EngineContext, name: string, options: SettleOptions = {}): Promise<void> {
  const threadId = threadIdOf(parts.projectId, parse(nameSchema, name, 'thread'))
  const deadlineMs = options.deadlineMs ?? DEADLINE_MS_DEFAULT
  checkDeadline(deadlineMs)
  await waitFor(
    async () => {
      const compaction = await parts.store.inProject(parts.projectId, (tx) =>
        loadCompaction(tx, { threadId, settings: parts.settings }),
      )
      if (!compaction) throw notFound('thread', name)
      const { headSeq, pruneSeq, summarizeSeq, embedSeq, rememberSeq, iterationCount, progressCount } =
        compaction.thread
      const isProgressKept = progressCount >= iterationCount
      const cursors = { prune: pruneSeq, summarize: summarizeSeq, embed: embedSeq, remember: rememberSeq }
      options.onProgress?.({ headSeq, cursors, isProgressKept })
      const isWorkedOff =
        Math.min(pruneSeq, summarizeSeq, embedSeq, rememberSeq ?? headSeq) >= headSeq && isProgressKept
      const isSettled = compaction.latest?.status !== 'pending' && isWorkedOff
      return { isDone: isSettled, facts: { headSeq, ...cursors, iterationCount, progressCount } }
    },
    {
      what: `thread "${name}" to settle`,
      deadlineMs,
      signal: options.signal,
      clock: parts.clock,
    },
  )
}
