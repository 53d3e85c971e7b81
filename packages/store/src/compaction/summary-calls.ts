import type { CallPurpose, SummaryCall, ThreadOverview } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import { holdThread } from '../messages/tombstones.js'
import { asArray, asQuotedArray } from '../sql/arrays.js'
import { toStorable } from '../sql/text.js'

export interface NewSummaryCalls {
  readonly threadId: string
  /** The summary, or the failed attempt, to which all calls belong. */
  readonly summaryId: string
  readonly calls: readonly SummaryCall[]
}

/** Records the calls of one summary, unless its thread was erased. */
export async function insertSummaryCalls(tx: Tx, { threadId, summaryId, calls }: NewSummaryCalls): Promise<void> {
  if (calls.length === 0 || !(await holdThread(tx, threadId))) return
  await tx`
    insert into heddle.summary_calls (
      thread_id, summary_id, purpose, provider, model, outcome, error_code, input_tokens, output_tokens, cost_usd,
      duration_ms)
    select ${threadId}::uuid, ${summaryId}::uuid, call.*
    from unnest(
      ${asArray(calls.map(({ purpose }) => purpose))}::text[],
      ${asQuotedArray(calls.map(({ provider }) => toStorable(provider)))}::text[],
      ${asQuotedArray(calls.map(({ model }) => toStorable(model)))}::text[],
      ${asArray(calls.map(({ outcome }) => outcome))}::text[],
      ${asArray(calls.map(({ errorCode }) => errorCode ?? 'null'))}::text[],
      ${asArray(calls.map(({ inputTokens }) => inputTokens ?? 'null'))}::integer[],
      ${asArray(calls.map(({ outputTokens }) => outputTokens ?? 'null'))}::integer[],
      ${asArray(calls.map(({ costUsd }) => costUsd ?? 'null'))}::double precision[],
      ${asArray(calls.map(({ durationMs }) => Math.round(durationMs)))}::integer[]
    ) as call`
}

/** How many summaries, or readings of facts, of a thread called a provider since a time, including failed ones. */
export async function countSummaries(
  tx: Tx,
  { threadId, sinceMs, of = 'summaries' }: { threadId: string; sinceMs: number; of?: 'summaries' | 'facts' },
): Promise<number> {
  const facts: CallPurpose = 'facts'
  const [row] = await tx<{ count: number }[]>`
    select count(distinct summary_id) as count from heddle.summary_calls
    where thread_id = ${threadId} and created_at > ${sinceMs} and (purpose = ${facts}) = ${of === 'facts'}`
  return row?.count ?? 0
}

/** The recorded costs of a thread's summaries; old records are removed. */
type SummaryCosts = ThreadOverview['summaryCosts']

export async function loadSummaryCosts(tx: Tx, { threadId }: { threadId: string }): Promise<SummaryCosts> {
  const [costs] = await tx<SummaryCosts[]>`
    select
      count(distinct summary_id) filter (where purpose <> 'facts') as summaries, count(*) as calls,
      count(*) filter (where outcome = 'failed') as failed_calls,
      coalesce(sum(input_tokens), 0)::bigint as input_tokens, coalesce(sum(output_tokens), 0)::bigint as output_tokens,
      coalesce(sum(cost_usd), 0) as cost_usd,
      count(*) filter (where outcome = 'ok' and cost_usd is null) as calls_without_price
    from heddle.summary_calls
    where thread_id = ${threadId}`
  const none = { summaries: 0, calls: 0, failedCalls: 0, inputTokens: 0, outputTokens: 0 }
  return costs ?? { ...none, costUsd: 0, callsWithoutPrice: 0 }
}
