import { type ContextRequest, notFound, validationError } from '@heddle/contracts'
import { type BuildInput, ITERATIONS, itemsWithout, MESSAGES_LEFT_OUT, statusLimits } from '@heddle/core'
import {
  type AskedLane,
  type Compaction,
  type ContextRow,
  countWindow,
  type Dependence,
  isPrunedUnderOthers,
  loadActivity,
  loadCompaction,
  loadDependence,
  loadEarlier,
  loadLoop,
  loadScopeErased,
  type ScopeErased,
  type ThreadRow,
  type Tx,
} from '@heddle/store'
import { askedLaneOf, type LaneRecord, laneRecordOf } from './asked-lane.js'
import { describe, type LoadDeps, overrides } from './describe.js'
import { hiddenOf } from './hidden-of.js'
import { loadBlocks } from './load-blocks.js'
import { loadFacts } from './load-facts.js'
import { loadHistoryInput } from './load-history.js'
import { type LoadedItems, loadItems } from './load-items.js'
import { loadLedger } from './load-ledger.js'
import { loadMultiThreadInput } from './load-multi-thread.js'
import { isOfOthers, scopeThreadIds } from './scope.js'
import { servedFrom } from './served-state.js'

/** The loaded input of a context. */
export interface LoadedForBuild {
  readonly input: BuildInput
  /** Candidates for the context's items; null if no selection is needed. */
  readonly items: LoadedItems | null
  /** Whether the thread's settings have changed, so that its compactions must be planned again. */
  readonly awaitsPruning: boolean
  readonly thread: ThreadRow
  /** Whether the budget is filled beside a state of the thread's own lane, also when more messages follow. */
  readonly isFilledBesideOwn: boolean
  /** The erased messages of the threads of a scope when they were read; null if only the thread itself was. */
  readonly scopeErased: ScopeErased | null
  /** The lane to record with the context; null if it is not recorded now. */
  readonly askedLane: AskedLane | null
  /** The record of the request's lane; null for a lane that is not recorded. */
  readonly laneRecord: LaneRecord | null
  /** The versions on which the input depends, for caching; null if it must be loaded for each context. */
  readonly dependence: Dependence | null
}

export async function loadBuildInput(
  tx: Tx,
  requested: Pick<ContextRow, 'request' | 'threadId'>,
  deps: LoadDeps,
): Promise<LoadedForBuild> {
  const { request, threadId } = requested
  const compaction = await loadCompaction(tx, { threadId, settings: deps.settings, request: overrides(request) })
  if (!compaction) throw notFound('thread', request.thread, 'append messages to it first, or list the existing threads')
  const { thread, settings } = compaction
  if (request.agent !== undefined && request.agent !== thread.agentName) {
    throw validationError('agent', `must be the thread's agent, "${thread.agentName}"`, request.agent)
  }

  const awaitsPruning = isPrunedUnderOthers(compaction)
  const isLoop = settings.strategy === ITERATIONS
  const isMultiThread = isOfOthers(request)
  if (isLoop && (isMultiThread || request.scope?.since !== undefined)) throw scopeOfLoop()
  const load = isLoop ? loadLoopInput : isMultiThread ? loadMultiThreadInput : loadHistoryInput
  // The messages in such a scope change with those of other threads, or with time.
  const isBounded = request.scope?.threads !== undefined || request.scope?.since !== undefined
  const isUncached = isLoop || isBounded
  const { own, lane } = compaction
  const { fill } = servedFrom(compaction, request)
  // Also before a state of the thread's own lane fits: the first one that does changes what is shown.
  const lanes = own !== null && compaction.current === null ? [lane.key, own.lane.key] : [lane.key]
  const { asOfMs } = deps
  const { rollingWindow } = settings
  const [bare, blocks, facts, ledger, items, versions, scopeErased] = await Promise.all([
    load(tx, compaction, request, deps),
    loadBlocks(tx, compaction, request),
    loadFacts(tx, compaction, request, asOfMs),
    loadLedger(tx, compaction, request),
    loadItems(tx, thread, request.scope),
    isUncached ? null : loadDependence(tx, { threadId, lanes, asOfMs, rollingWindow }),
    isMultiThread ? loadScopeErased(tx, scopeThreadIds(request, deps) ?? []) : null,
  ])
  const dependence = facts?.areTimed || ledger?.isOfOtherLane ? null : versions
  const input = {
    ...bare,
    ...(blocks.length > 0 && { blocks }),
    ...(facts !== null && { facts: facts.facts }),
    ...(ledger !== null && { ledger: ledger.ledger }),
  }
  const laneRecord = laneRecordOf(compaction, request)
  const askedLane = askedLaneOf(compaction, laneRecord, request, asOfMs)
  const common = { awaitsPruning, thread, isFilledBesideOwn: fill !== null, laneRecord, askedLane, scopeErased }
  // A selection of items depends on the request, so the input cannot be cached; without one, all shown items are known.
  if (items !== null && items.share.candidates.length > 0) return { ...common, input, items, dependence: null }
  const complete = items === null ? input : { ...input, items: itemsWithout(items, null) }
  return { ...common, input: complete, items: null, dependence }
}

function scopeOfLoop(): Error {
  const hint = 'limit only items, or request a strategy that shows messages'
  return validationError('scope', 'threads and since limit messages, but iterations shows none', ITERATIONS, hint)
}

/** Loads the input of a context of iterations and their summary. Messages are only counted. */
async function loadLoopInput(
  tx: Tx,
  compaction: Compaction,
  request: ContextRequest,
  deps: LoadDeps,
): Promise<BuildInput> {
  const { thread, settings } = compaction
  const { threadId, agentId } = thread
  const { rollingWindow } = settings
  const [{ loop, progress, stored, earlier }, counts, activity] = await Promise.all([
    loadLoop(tx, { thread, settings }).then(async (found) => ({
      ...found,
      earlier: await loadEarlier(tx, {
        thread,
        settings,
        progress: found.progress,
        shown: found.loop.iterations.length,
      }),
    })),
    countWindow(tx, { rollingWindow, ...thread, nowMs: deps.asOfMs }),
    loadActivity(tx, { threadId, agentId, amongIds: scopeThreadIds(request, deps), ...statusLimits }),
  ])
  return {
    ...describe(thread, settings, request, deps),
    activity,
    loop: earlier === undefined ? loop : { ...loop, earlier },
    messages: [],
    unloaded: [{ mode: 'left-out', count: counts.inWindow.eligible, tokens: 0, reason: MESSAGES_LEFT_OUT }],
    ineligible: withoutIterations(counts.ever.aside),
    hidden: [hiddenOf(compaction, request, counts)],
    hiddenIterations: stored - loop.totalIterations,
    imported: counts.imported,
    state: null,
    stateId: progress?.id ?? null,
  }
}

/** Their outputs are kept aside as messages; here they are accounted for as iterations. */
function withoutIterations({ iteration: _, ...aside }: Readonly<Record<string, number>>): Record<string, number> {
  return aside
}
