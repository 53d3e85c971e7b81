import { includeModes } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'

/** Contexts that the statistics include, the newest first: about a tenth of a second's work. */
export const STATS_CONTEXTS_MAX = 10_000

export interface ItemStatsQuery {
  readonly agentId: string
  /** Milliseconds since 1970; null for the whole retention. */
  readonly sinceMs: number | null
}

export interface ItemStatsTotals {
  /** Contexts that showed items, {@link STATS_CONTEXTS_MAX} at most. */
  readonly contexts: number
  /** Number of these that were answered by a reply. */
  readonly answered: number
  readonly threads: number
  /** When the oldest of them was built; null without any. */
  readonly fromMs: number | null
}

export interface ItemStatsRow {
  readonly itemId: string
  readonly contextsSince: number
  readonly contexts: number
  readonly always: number
  readonly manual: number
  readonly agent: number
  readonly answered: number
  readonly used: number
  readonly threadsByHand: number
  readonly tokens: number
  readonly meanScore: number | null
  readonly lastShownAtMs: number | null
  readonly lastUsedAtMs: number | null
}

/** The counts of each item of the agent, including removed ones, and the number of contexts. */
export async function loadItemStats(
  tx: Tx,
  query: ItemStatsQuery,
): Promise<{ readonly totals: ItemStatsTotals; readonly rows: readonly ItemStatsRow[] }> {
  const { agentId } = query
  const [[totals], rows] = await Promise.all([
    tx<ItemStatsTotals[]>`
      select count(*) as contexts, count(answered_seq) as answered, count(distinct thread_id) as threads,
        min(built_at) as from_ms
      from (${newest(tx, query)}) as looked_at`,
    tx<ItemStatsRow[]>`
      with looked_at as materialized (${newest(tx, query)}),
      moments as materialized (select coalesce(array_agg(built_at order by built_at), '{}') as built from looked_at),
      shown as (
        select item_id, count(*) as contexts,
          ${countOfModes(tx)},
          count(answered_seq) as answered, count(*) filter (where is_used) as used,
          count(distinct thread_id) filter (where mode = 'manual') as threads_by_hand,
          sum(tokens) as tokens, avg(score) as mean_score, max(built_at) as last_shown_at,
          max(built_at) filter (where is_used) as last_used_at
        from (
          select thread_id, built_at, answered_seq, one.*, one.item_id = any(used_ids) as is_used
          from looked_at, unnest(item_ids, modes, scores, tokens) as one (item_id, mode, score, tokens)
        ) as each
        group by item_id
      )
      select item.id as item_id,
        -- Moments up to the one at which the item was made are not counted.
        cardinality(moments.built) - width_bucket(item.created_at, moments.built) as contexts_since,
        coalesce(contexts, 0) as contexts, coalesce(always, 0) as always, coalesce(manual, 0) as manual,
        coalesce(agent, 0) as agent, coalesce(answered, 0) as answered, coalesce(used, 0) as used,
        coalesce(threads_by_hand, 0) as threads_by_hand, coalesce(shown.tokens, 0) as tokens, mean_score,
        last_shown_at as last_shown_at_ms, last_used_at as last_used_at_ms
      from heddle.items as item
      cross join moments
      left join shown on shown.item_id = item.id
      where item.agent_id = ${agentId}`,
  ])
  return { totals: totals ?? { contexts: 0, answered: 0, threads: 0, fromMs: null }, rows }
}

function newest(tx: Tx, { agentId, sinceMs }: ItemStatsQuery) {
  return tx`
    select thread_id, built_at, item_ids, modes, scores, tokens, answered_seq, used_ids
    from heddle.context_items
    where agent_id = ${agentId} and cardinality(item_ids) > 0 and ${sinceMs === null ? tx`true` : tx`built_at >= ${sinceMs}`}
    order by built_at desc
    limit ${STATS_CONTEXTS_MAX}`
}

function countOfModes(tx: Tx) {
  const [first, ...rest] = includeModes.map((mode) => tx`count(*) filter (where mode = ${mode}) as ${tx(mode)}`)
  return rest.reduce((list, next) => tx`${list}, ${next}`, first ?? tx``)
}
