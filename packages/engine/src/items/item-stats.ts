import type { ItemStatsOptions } from '@heddle/client/interface'
import { type ItemStats, type ItemStatsEntry, itemStatsQuerySchema, momentMs, parse } from '@heddle/contracts'
import { effectiveInclude, itemKey, roundScore, suggestionFor } from '@heddle/core'
import { type ItemRow, type ItemStatsRow, listAllItems, loadItemStats, STATS_CONTEXTS_MAX } from '@heddle/store'
import { isoTime } from '../setup/iso-time.js'
import type { EngineContext } from '../setup/options.js'
import { loadAgentOr } from './items.js'

/**
 * Statistics of an agent's items: how often contexts showed them, at what score and cost, whether replies used them, and a
 * suggestion. Replies are counted by the embed stage, soon after they are stored.
 *
 * @throws PermanentError `VALIDATION_ERROR`; `NOT_FOUND` without the agent
 */
export async function itemStats(
  { store, projectId, clock }: EngineContext,
  agent: string,
  options: ItemStatsOptions = {},
): Promise<ItemStats> {
  const { since } = parse(itemStatsQuerySchema, options, 'options')
  const sinceMs = since === undefined ? null : momentMs(since, clock.nowMs())
  const { items, totals, rows } = await store.inProject(projectId, async (tx) => {
    const { agentId } = await loadAgentOr(tx, agent)
    const [items, stats] = await Promise.all([listAllItems(tx, { agentId }), loadItemStats(tx, { agentId, sinceMs })])
    return { items, ...stats }
  })
  const byId = new Map(rows.map((row) => [row.itemId, row]))
  const entries = items.flatMap((item) => {
    const row = byId.get(item.itemId)
    // Removed items that no context showed in this period are omitted.
    return row === undefined || (item.erased && row.contexts === 0) ? [] : [toEntry(item, row, totals.threads)]
  })
  return {
    agent,
    from: isoTime(totals.fromMs),
    contexts: totals.contexts,
    answered: totals.answered,
    threads: totals.threads,
    isCut: totals.contexts === STATS_CONTEXTS_MAX,
    items: entries.sort((left, right) => right.tokens - left.tokens || right.contexts - left.contexts),
  }
}

function toEntry(item: ItemRow, row: ItemStatsRow, threads: number): ItemStatsEntry {
  const includeMode = item.erased ? null : effectiveInclude(item)
  const { contexts, answered, used, tokens, always, manual, agent, meanScore } = row
  return {
    ...itemKey(item),
    itemId: item.itemId,
    includeMode,
    contexts,
    byMode: { always, manual, agent },
    answered,
    used,
    meanScore: meanScore === null ? null : roundScore(meanScore),
    tokens,
    meanTokens: contexts === 0 ? 0 : Math.round(tokens / contexts),
    lastShownAt: isoTime(row.lastShownAtMs),
    lastUsedAt: isoTime(row.lastUsedAtMs),
    suggestion: includeMode === null ? null : suggestionFor({ ...row, type: item.type, includeMode, threads }),
  }
}
