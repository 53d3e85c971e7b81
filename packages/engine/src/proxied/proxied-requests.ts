import type { ListProxiedRequestsOptions, Page } from '@heddle/client/interface'
import { nameSchema, type ProxiedRequest, type ProxyComparison, type ProxyStats, parse } from '@heddle/contracts'
import { compareCosts, threadIdOf } from '@heddle/core'
import {
  listProxiedRequests,
  loadProxiedThreadCosts,
  loadProxiedTotals,
  type ProxiedRequestRow,
  type ProxiedThreadCost,
} from '@heddle/store'
import { type CursorList, cursorOf, placeAt } from '../setup/cursors.js'
import { isoTime } from '../setup/iso-time.js'
import { checkPageLimit, type EngineContext } from '../setup/options.js'

const LIMIT_DEFAULT = 100
/** Modes times models: of more only the most expensive are shown. */
const TOTALS_MAX = 500
/** The newest conversations are compared: the interval takes a thousand draws of each, 20 ms in all for so many. */
const COMPARED_THREADS_MAX = 1_000
const PLACE = /^(\d{1,15})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

/**
 * Requests to providers that the proxy relayed, newest first: those of a thread, or of the project.
 *
 * @throws PermanentError `VALIDATION_ERROR`
 */
export async function listRelayed(
  { store, projectId }: EngineContext,
  { thread, limit = LIMIT_DEFAULT, ...page }: ListProxiedRequestsOptions,
): Promise<Page<ProxiedRequest>> {
  checkPageLimit(limit)
  const threadId = thread === undefined ? undefined : threadIdOf(projectId, parse(nameSchema, thread, 'thread'))
  const list: CursorList = { kind: 'proxied-requests', ownerId: threadId ?? projectId }
  const [, time, id = ''] = placeAt(list, page, PLACE) ?? []
  const before = time === undefined ? undefined : { createdAtMs: Number(time), id }
  const rows = await store.inProject(projectId, (tx) => listProxiedRequests(tx, { threadId, limit: limit + 1, before }))
  const last = rows[limit - 1]
  return {
    items: rows.slice(0, limit).map(toProxiedRequest),
    nextCursor: rows.length > limit && last ? cursorOf(list, `${last.createdAtMs}_${last.id}`) : null,
  }
}

/** Sums of all relayed requests that are kept, by mode and model, and modes compared with conversations that stayed unchanged. */
export async function proxyTotals({ store, projectId }: EngineContext): Promise<ProxyStats> {
  const [rows, costs] = await store.inProject(projectId, (tx) =>
    Promise.all([
      loadProxiedTotals(tx, { totalsMax: TOTALS_MAX }),
      loadProxiedThreadCosts(tx, { threadsMax: COMPARED_THREADS_MAX }),
    ]),
  )
  const items = rows.map(
    ({ tokensReceived, tokensSent, inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, ...rest }) => ({
      ...rest,
      tokens: { received: tokensReceived, sent: tokensSent },
      usage: { input: inputTokens, cacheRead: cacheReadTokens, cacheWrite: cacheWriteTokens, output: outputTokens },
    }),
  )
  const comparisons = (['stub', 'compact'] as const).flatMap((mode) => comparisonOf(mode, costs))
  return { items, comparisons, nextCursor: null }
}

function comparisonOf(mode: ProxyComparison['mode'], costs: readonly ProxiedThreadCost[]): ProxyComparison[] {
  const ofMode = costs.filter((each) => each.mode === mode)
  const treated = ofMode.filter(({ isControl }) => !isControl)
  const control = ofMode.filter(({ isControl }) => isControl)
  if (control.length === 0) return []
  return [{ mode, treated: sumOf(treated), control: sumOf(control), ...compareCosts(treated, control) }]
}

function sumOf(all: readonly ProxiedThreadCost[]): ProxyComparison['control'] {
  return {
    threads: all.length,
    requests: all.reduce((sum, { requests }) => sum + requests, 0),
    costUsd: all.reduce((sum, { costUsd }) => sum + costUsd, 0),
  }
}

/** A row as callers get it. */
export function toProxiedRequest(row: ProxiedRequestRow): ProxiedRequest {
  const { createdAtMs, threadId: _, tokensReceived, tokensSent, tokensCached, ...rest } = row
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, ...facts } = rest
  return {
    ...facts,
    at: isoTime(createdAtMs),
    tokens: { received: tokensReceived, sent: tokensSent, cached: tokensCached },
    usage:
      inputTokens === null
        ? null
        : {
            input: inputTokens,
            cacheRead: cacheReadTokens ?? 0,
            cacheWrite: cacheWriteTokens ?? 0,
            output: outputTokens ?? 0,
          },
  }
}
