import { limits } from '@heddle/contracts'
import { type ContextFact, factsRead } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { loadSharedRuns, type SharedRun } from '../forks/lineage.js'
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
 * subjects and predicates: these decide what replaced what. Those of messages that a fork shares count as its own.
 */
export async function loadContextFacts(
  tx: Tx,
  { agentId, threadId, baseMs, limit }: ContextFactsQuery,
): Promise<readonly ContextFact[]> {
  const runs = threadId === null ? [] : await loadSharedRuns(tx, threadId)
  // The agent's own in the first place, each of the others in a part of its own, which an index finds and orders.
  const scopes = [
    tx`agent_id = ${agentId} and thread_id is null`,
    tx`agent_id = ${agentId} and thread_id = ${threadId}`,
    ...runs.map((run) => tx`agent_id = ${agentId} and ${isOfRun(tx, run)}`),
  ]
  const times = [tx`true`, tx`recorded_at <= ${baseMs}::timestamptz`]
  const latest = scopes.flatMap((scope) =>
    times.map(
      (time) => tx`(
    select agent_id, id from heddle.facts
    where ${scope} and ${time}
    order by recorded_at desc, valid_from desc, id desc
    limit ${factsRead(limit)})`,
    ),
  )
  const ofThread = runs.reduce((own, run) => tx`${own} or ${isOfRun(tx, run)}`, tx`thread_id = ${threadId}`)
  const rows = await tx<(FactRow & { readonly correctedAtMs: number | null })[]>`
    with chosen as (${latest.reduce((before, part) => tx`${before} union ${part}`)}), keys as (
      select distinct fact.thread_id is null as is_of_agent, fact.subject_key, fact.predicate
      from chosen join heddle.facts as fact on fact.agent_id = chosen.agent_id and fact.id = chosen.id
    )
    select ${factColumns(tx)}, (
      select recorded_at from heddle.facts as correction
      where correction.agent_id = ${agentId} and correction.id = fact.corrected_by) as corrected_at_ms
    from keys
    cross join lateral (
      select * from heddle.facts
      where facts.agent_id = ${agentId} and facts.subject_key = keys.subject_key and facts.predicate = keys.predicate
        and case when keys.is_of_agent then thread_id is null else ${ofThread} end
      order by facts.recorded_at desc, facts.valid_from desc, facts.id desc
      limit ${limits.factsPerKeyMax}) as fact
    left join heddle.threads as thread on thread.id = fact.thread_id`
  const sources = rows.flatMap((row) => row.sources)
  const codes =
    threadId === null || sources.length === 0
      ? new Map()
      : await loadCodes(tx, { threadId, ids: [...new Set(sources)] })
  return rows.map(({ threadId: ofThreadId, sources: from, ...row }) => ({
    ...row,
    scope: ofThreadId === null ? 'agent' : 'thread',
    codes: from.flatMap((id) => codes.get(id) ?? []),
  }))
}

/** The condition that a fact was read from messages of a run that a fork shares. One without sources is of its thread alone. */
function isOfRun(tx: Tx, { originId, afterSeq, toSeq }: SharedRun) {
  return tx`(
    thread_id = ${originId} and cardinality(sources) > 0 and not exists (
      select from unnest(sources) as source (id)
      where not exists (
        select from heddle.messages as message
        where message.thread_id = ${originId} and message.id = source.id
          and message.seq > ${afterSeq} and message.seq <= ${toSeq})))`
}
