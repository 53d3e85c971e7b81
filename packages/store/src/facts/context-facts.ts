import { limits } from '@heddle/contracts'
import { type ContextFact, factsRead } from '@heddle/core'
import type { PendingQuery, Row } from 'postgres'
import type { Tx } from '../connection/connection.js'
import { type FactRow, factColumns, loadCodes } from './facts.js'

export interface ContextFactsQuery {
  readonly agentId: string
  /** Null: of the agent alone. */
  readonly threadId: string | null
  /** The time of the last compaction, in milliseconds since 1970. */
  readonly baseMs: number
  /** Most facts of the context. */
  readonly limit: number
}

/**
 * The facts of a thread and of its agent that were recorded last, as of a compaction and as of now, with all that have the same
 * subjects and predicates: these decide what replaced what.
 */
export async function loadContextFacts(
  tx: Tx,
  { agentId, threadId, baseMs, limit }: ContextFactsQuery,
): Promise<readonly ContextFact[]> {
  const latest = (scope: PendingQuery<Row[]>, until: PendingQuery<Row[]>) => tx`(
    select agent_id, id from heddle.facts
    where ${scope} and ${until}
    order by recorded_at desc, id desc
    limit ${factsRead(limit)})`
  const [ofAgent, ofThread] = [
    tx`agent_id = ${agentId} and thread_id is null`,
    tx`thread_id = ${threadId} and agent_id = ${agentId}`,
  ]
  const [now, then] = [tx`true`, tx`recorded_at <= ${baseMs}::timestamptz`]
  const rows = await tx<(FactRow & { readonly correctedAtMs: number | null })[]>`
    with chosen as (
      ${latest(ofAgent, now)} union ${latest(ofAgent, then)}
      union ${latest(ofThread, now)} union ${latest(ofThread, then)}
    ), keys as (
      select distinct fact.thread_id, fact.subject_key, fact.predicate
      from chosen join heddle.facts as fact on fact.agent_id = chosen.agent_id and fact.id = chosen.id
    )
    select ${factColumns(tx)}, (
      select recorded_at from heddle.facts as correction
      where correction.agent_id = ${agentId} and correction.id = fact.corrected_by) as corrected_at_ms
    from keys
    cross join lateral (
      select * from heddle.facts
      where facts.agent_id = ${agentId} and facts.subject_key = keys.subject_key and facts.predicate = keys.predicate
        and facts.thread_id is not distinct from keys.thread_id
      order by facts.recorded_at desc, facts.id desc
      limit ${limits.factsPerKeyMax}) as fact
    left join heddle.threads as thread on thread.id = fact.thread_id`
  const sources = rows.flatMap((row) => row.sources)
  const codes =
    threadId === null || sources.length === 0
      ? new Map()
      : await loadCodes(tx, { threadId, ids: [...new Set(sources)] })
  return rows.map(({ threadId: ofThreadId, sources: from, ...row }) => ({
    ...row,
    scope: ofThreadId ?? 'agent',
    codes: from.flatMap((id) => codes.get(id) ?? []),
  }))
}
