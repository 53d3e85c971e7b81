import { type ContextRequest, notFound, validationError } from '@heddle/contracts'
import { type BuildInput, ITERATIONS, itemsWithout, MESSAGES_LEFT_OUT, statusLimits } from '@heddle/core'
import {
  type Compaction,
  type ContextRow,
  countWindow,
  type Dependence,
  isPrunedUnderOthers,
  loadActivity,
  loadCompaction,
  loadDependence,
  loadLoop,
  type ThreadRow,
  type Tx,
} from '@heddle/store'
import { describe, type LoadDeps, overrides } from './describe.js'
import { hiddenOf } from './hidden-of.js'
import { loadHistoryInput } from './load-history.js'
import { type LoadedItems, loadItems } from './load-items.js'
import { loadMultiThreadInput } from './load-multi-thread.js'
import { isOfOthers, scopeThreadIds } from './scope.js'

/** What a context is made of, and whether the thread's compactions have yet to follow a change of its settings. */
export interface LoadedForBuild {
  readonly input: BuildInput
  /** Those that the context's own are chosen from; null where nothing is to be chosen. */
  readonly items: LoadedItems | null
  readonly awaitsPruning: boolean
  readonly thread: ThreadRow
  /** For how long a context is made of the same; null where that is found out for each. */
  readonly dependence: Dependence | null
}

/** Reads everything that a requested context is made of. */
export async function loadBuildInput(
  tx: Tx,
  requested: Pick<ContextRow, 'request' | 'threadId'>,
  deps: LoadDeps,
): Promise<LoadedForBuild> {
  const { request, threadId } = requested
  const compaction = await loadCompaction(tx, { threadId, settings: deps.settings, request: overrides(request) })
  if (!compaction)
    throw notFound('thread', request.thread, 'append messages to it first, or list the threads there are')
  const { thread, settings } = compaction
  if (request.agent !== undefined && request.agent !== thread.agentName) {
    throw validationError('agent', `must be the thread's agent, "${thread.agentName}"`, request.agent)
  }

  const awaitsPruning = isPrunedUnderOthers(compaction, deps.settings)
  const isLoop = settings.strategy === ITERATIONS
  const isWoven = isOfOthers(request)
  if (isLoop && (isWoven || request.scope?.since !== undefined)) throw scopeOfLoop()
  const load = isLoop ? loadLoopInput : isWoven ? loadMultiThreadInput : loadHistoryInput
  // What these bound changes with the messages of other threads, or with each moment.
  const isBounded = request.scope?.threads !== undefined || request.scope?.since !== undefined
  const { asOfMs } = deps
  const { rollingWindow } = settings
  const [input, items, dependence] = await Promise.all([
    load(tx, compaction, request, deps),
    loadItems(tx, thread, request.scope),
    isLoop || isBounded ? null : loadDependence(tx, { threadId, lane: compaction.lane.key, asOfMs, rollingWindow }),
  ])
  // What an agent's items are to a request is found out for each; where none are selected, all that are shown is known.
  if (items !== null && items.share.candidates.length > 0)
    return { input, items, awaitsPruning, thread, dependence: null }
  const complete = items === null ? input : { ...input, items: itemsWithout(items, null) }
  return { input: complete, items: null, awaitsPruning, thread, dependence }
}

function scopeOfLoop(): Error {
  const hint = 'bound the items alone, or ask with a strategy that shows messages'
  return validationError('scope', 'threads and since bound messages, and iterations shows none', ITERATIONS, hint)
}

/** What a context of a loop is made of: iterations and their summary. Of messages it only says how many there are. */
async function loadLoopInput(
  tx: Tx,
  compaction: Compaction,
  request: ContextRequest,
  deps: LoadDeps,
): Promise<BuildInput> {
  const { thread, settings } = compaction
  const { threadId, agentId } = thread
  const { rollingWindow } = settings
  const [{ loop, progress, stored }, counts, activity] = await Promise.all([
    loadLoop(tx, { thread, settings }),
    countWindow(tx, { rollingWindow, ...thread, nowMs: deps.asOfMs }),
    loadActivity(tx, { threadId, agentId, amongIds: scopeThreadIds(request, deps), ...statusLimits }),
  ])
  return {
    ...describe(thread, settings, request, deps),
    activity,
    loop,
    messages: [],
    unloaded: [{ mode: 'left-out', count: counts.inWindow.eligible, tokens: 0, reason: MESSAGES_LEFT_OUT }],
    ineligible: counts.ever.aside,
    hidden: [hiddenOf(compaction, request, counts)],
    hiddenIterations: stored - loop.totalIterations,
    imported: counts.imported,
    state: null,
    stateId: progress?.id ?? null,
  }
}
