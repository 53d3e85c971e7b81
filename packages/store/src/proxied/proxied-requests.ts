import type { Tx } from '../connection/connection.js'
import { shareErasureLock } from '../messages/tombstones.js'
import type { Rows } from '../schema/rows.js'
import { asQuotedArray } from '../sql/arrays.js'
import { toStorable } from '../sql/text.js'
import { insertProxiedView, type NewProxiedView } from './proxied-views.js'

export type ProxiedRequestRow = Readonly<Omit<Rows['proxiedRequests'], 'projectId'>>

export type NewProxiedRequest = Omit<ProxiedRequestRow, 'createdAtMs'>

/**
 * Records a request that was relayed, unless its thread or project was erased.
 *
 * @param view what it was made of, if that is known
 * @returns whether the view was recorded
 */
export async function insertProxiedRequest(tx: Tx, row: NewProxiedRequest, view?: NewProxiedView): Promise<boolean> {
  await Promise.all([
    shareErasureLock(tx),
    tx`
      insert into heddle.proxied_requests (
        id, thread_id, thread, upstream, protocol, model, mode, mode_source, is_control, epoch, reasons, passed, entries,
        stubs, covered_entries, tokens_received, tokens_sent, tokens_cached, input_tokens, cache_read_tokens,
        cache_write_tokens, output_tokens, cost_usd, direct_cost_usd, recalls, recall_cost_usd, status, added_ms,
        first_byte_ms)
      select
        ${row.id}::uuid, ${row.threadId}::uuid, ${row.thread}, ${row.upstream}, ${row.protocol},
        ${toStorable(row.model)}, ${row.mode}, ${row.modeSource}, ${row.isControl}::boolean, ${row.epoch}::integer,
        ${asQuotedArray(row.reasons)}::text[], ${row.passed}::text, ${row.entries}::integer, ${row.stubs}::integer,
        ${row.coveredEntries}::integer, ${row.tokensReceived}::integer, ${row.tokensSent}::integer,
        ${row.tokensCached}::integer, ${row.inputTokens}::integer, ${row.cacheReadTokens}::integer,
        ${row.cacheWriteTokens}::integer, ${row.outputTokens}::integer, ${row.costUsd}::double precision,
        ${row.directCostUsd}::double precision, ${row.recalls}::integer, ${row.recallCostUsd}::double precision,
        ${row.status}::integer, ${row.addedMs}::double precision, ${row.firstByteMs}::double precision
      where not exists (
        select from heddle.tombstones
        where target_id in (${row.threadId}, current_setting('heddle.project_id')::uuid))
      on conflict (id) do nothing`,
  ])
  return view === undefined ? false : await insertProxiedView(tx, { threadId: row.threadId, view })
}

export interface ProxiedListing {
  /** Of one thread; of the whole project without it. */
  readonly threadId?: string | undefined
  readonly limit: number
  /** The last one of the previous page. */
  readonly before?: { readonly createdAtMs: number; readonly id: string } | undefined
}

/** A page of relayed requests, newest first. */
export async function listProxiedRequests(
  tx: Tx,
  { threadId, limit, before }: ProxiedListing,
): Promise<ProxiedRequestRow[]> {
  return await tx<ProxiedRequestRow[]>`
    select ${columns(tx)}
    from heddle.proxied_requests
    where project_id = current_setting('heddle.project_id')::uuid
      and ${threadId === undefined ? tx`true` : tx`thread_id = ${threadId}`}
      and ${before === undefined ? tx`true` : tx`(created_at, id) < (${before.createdAtMs}, ${before.id})`}
    order by created_at desc, id desc
    limit ${limit}`
}

/** Null if the project has no such request. */
export async function loadProxiedRequest(tx: Tx, { id }: { readonly id: string }): Promise<ProxiedRequestRow | null> {
  const [row] = await tx<ProxiedRequestRow[]>`
    select ${columns(tx)}
    from heddle.proxied_requests
    where id = ${id} and project_id = current_setting('heddle.project_id')::uuid`
  return row ?? null
}

function columns(tx: Tx) {
  return tx`
    id, thread_id, thread, upstream, protocol, model, mode, mode_source, is_control, epoch, to_json(reasons) as reasons,
    passed, entries, stubs, covered_entries, tokens_received, tokens_sent, tokens_cached, input_tokens, cache_read_tokens,
    cache_write_tokens, output_tokens, cost_usd, direct_cost_usd, recalls, recall_cost_usd, status, added_ms,
    first_byte_ms, created_at as created_at_ms`
}

/** Sums of the relayed requests of a mode and a model. */
export interface ProxiedTotals extends Pick<ProxiedRequestRow, 'mode' | 'isControl' | 'model'> {
  readonly requests: number
  readonly threads: number
  /** Requests that were sent as they came against their mode. */
  readonly passed: number
  readonly tokensReceived: number
  readonly tokensSent: number
  /** Of the requests that the provider counted. */
  readonly inputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly outputTokens: number
  /** Of the requests with a count and known prices. */
  readonly costUsd: number
  readonly directCostUsd: number
  readonly recalls: number
  /** Part of `costUsd`. */
  readonly recallCostUsd: number
  readonly priced: number
}

export interface ProxiedThreadCost extends Pick<ProxiedRequestRow, 'mode' | 'isControl'> {
  /** Those with a cost. */
  readonly requests: number
  readonly costUsd: number
}

/** Costs of the newest conversations for which a mode other than `observe` was asked, by mode. */
export async function loadProxiedThreadCosts(
  tx: Tx,
  { threadsMax }: { readonly threadsMax: number },
): Promise<ProxiedThreadCost[]> {
  return await tx<ProxiedThreadCost[]>`
    select mode, is_control, count(*)::integer as requests, sum(cost_usd) as cost_usd
    from heddle.proxied_requests
    where project_id = current_setting('heddle.project_id')::uuid and mode <> 'observe' and cost_usd is not null
    group by thread_id, mode, is_control
    order by max(created_at) desc, thread_id
    limit ${threadsMax}`
}

/** All that are kept, by mode and model, the most expensive first. */
export async function loadProxiedTotals(tx: Tx, { totalsMax }: { totalsMax: number }): Promise<ProxiedTotals[]> {
  return await tx<ProxiedTotals[]>`
    select
      mode, is_control, model, count(*)::integer as requests, count(distinct thread_id)::integer as threads,
      count(passed)::integer as passed,
      coalesce(sum(tokens_received), 0)::double precision as tokens_received,
      coalesce(sum(tokens_sent), 0)::double precision as tokens_sent,
      coalesce(sum(input_tokens), 0)::double precision as input_tokens,
      coalesce(sum(cache_read_tokens), 0)::double precision as cache_read_tokens,
      coalesce(sum(cache_write_tokens), 0)::double precision as cache_write_tokens,
      coalesce(sum(output_tokens), 0)::double precision as output_tokens,
      coalesce(sum(cost_usd), 0) as cost_usd, coalesce(sum(direct_cost_usd), 0) as direct_cost_usd,
      coalesce(sum(recalls), 0)::integer as recalls, coalesce(sum(recall_cost_usd), 0) as recall_cost_usd,
      count(cost_usd)::integer as priced
    from heddle.proxied_requests
    where project_id = current_setting('heddle.project_id')::uuid
    group by mode, is_control, model
    order by sum(cost_usd) desc nulls last, count(*) desc, model
    limit ${totalsMax}`
}
