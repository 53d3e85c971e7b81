import { ConflictError, limits, notFound } from '@heddle/contracts'
import { type FactDraft, subjectKey } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { formatTime } from '../connection/times.js'
import { messageOf } from '../forks/lineage.js'
import type { Rows } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'
import { byId, givenIds } from '../sql/by-id.js'
import { noteFactChange } from './fact-scopes.js'

export type FactRow = Readonly<Omit<Rows['facts'], 'projectId' | 'agentId' | 'subjectKey'>> & {
  /** The name of its thread; null for a fact of the agent in all of them. */
  readonly thread: string | null
}

export interface FactSelection {
  readonly agentId: string
  readonly threadId?: string | undefined
  readonly subject?: string | undefined
  readonly predicate?: string | undefined
  /** Without those that began later, were corrected or retracted; whether the others held then follows from later ones. */
  readonly asOfMs?: number | undefined
  /** The last fact of the previous page. */
  readonly after?: { readonly recordedAtMs: number; readonly id: string } | undefined
  readonly limit: number
}

export function factColumns(tx: Tx) {
  return tx`
    fact.id, fact.thread_id, thread.name as thread, fact.subject, fact.predicate, fact.object, fact.kind, fact.is_negated,
    fact.is_single, fact.statement, fact.valid_from as valid_from_ms, fact.valid_to as valid_to_ms,
    fact.recorded_at as recorded_at_ms, to_json(fact.sources) as sources, fact.extractor, fact.confidence, fact.origin,
    fact.corrected_by, fact.retracted_at as retracted_at_ms`
}

/** Facts of an agent, those recorded last first. */
export async function listFacts(tx: Tx, selection: FactSelection): Promise<FactRow[]> {
  const { agentId, threadId, subject, predicate, asOfMs, after, limit } = selection
  return await tx<FactRow[]>`
    select ${factColumns(tx)}
    from heddle.facts as fact
    left join heddle.threads as thread on thread.id = fact.thread_id
    where fact.agent_id = ${agentId}
      ${threadId === undefined ? tx`` : tx`and fact.thread_id = ${threadId}`}
      ${subject === undefined ? tx`` : tx`and fact.subject_key = ${subjectKey(subject)}`}
      ${predicate === undefined ? tx`` : tx`and fact.predicate = ${predicate.toLowerCase()}`}
      ${asOfMs === undefined ? tx`` : tx`and fact.valid_from <= ${asOfMs}::timestamptz and fact.corrected_by is null and fact.retracted_at is null`}
      ${after === undefined ? tx`` : tx`and (fact.recorded_at, fact.id) < (${after.recordedAtMs}::timestamptz, ${after.id}::uuid)`}
    order by fact.recorded_at desc, fact.id desc
    limit ${limit}`
}

/** The facts of the same scopes, subjects and predicates as some others, which decide what replaced these. */
export async function loadKeys(tx: Tx, agentId: string, rows: readonly FactRow[]): Promise<FactRow[]> {
  const keys = new Map(
    rows.map(({ threadId, subject, predicate }) => {
      const key = { threadId, subjectKey: subjectKey(subject), predicate }
      return [JSON.stringify(Object.values(key)), key]
    }),
  )
  if (keys.size === 0) return []
  return await tx<FactRow[]>`
    select ${factColumns(tx)}
    from json_to_recordset(${JSON.stringify([...keys.values()])}::text::json) as given (
      "threadId" uuid, "subjectKey" text, predicate text)
    cross join lateral (
      select * from heddle.facts
      where facts.agent_id = ${agentId} and facts.subject_key = given."subjectKey"
        and facts.predicate = given.predicate and facts.thread_id is not distinct from given."threadId"
      order by facts.recorded_at desc, facts.id desc
      limit ${limits.factsPerKeyMax}) as fact
    left join heddle.threads as thread on thread.id = fact.thread_id`
}

export async function loadFact(
  tx: Tx,
  { agentId, id }: { readonly agentId: string; readonly id: string },
): Promise<FactRow | null> {
  const [row] = await tx<FactRow[]>`
    select ${factColumns(tx)}
    from heddle.facts as fact
    left join heddle.threads as thread on thread.id = fact.thread_id
    where fact.agent_id = ${agentId} and fact.id = ${id}`
  return row ?? null
}

export interface NewFact extends FactDraft {
  readonly id: string
  readonly validFromMs: number
  readonly validToMs: number | null
  readonly sources: readonly string[]
}

export interface NewFacts {
  readonly agentId: string
  readonly threadId: string | null
  readonly extractor: string | null
  readonly origin: Rows['facts']['origin']
  readonly facts: readonly NewFact[]
}

/** Adds facts. Those that are stored under the same ids stay as they are. @returns how many were new */
export async function insertFacts(tx: Tx, { agentId, threadId, extractor, origin, facts }: NewFacts): Promise<number> {
  if (facts.length === 0) return 0
  const rows = facts.map(({ predicate, sources, validFromMs, validToMs, ...fact }) => ({
    ...fact,
    validFrom: formatTime(validFromMs),
    validTo: validToMs === null ? null : formatTime(validToMs),
    predicate: predicate.toLowerCase(),
    subjectKey: subjectKey(fact.subject),
    sources: asArray(sources),
  }))
  const { count } = await tx`
    insert into heddle.facts (
      agent_id, thread_id, extractor, origin, id, subject, subject_key, predicate, object, kind, is_negated, is_single,
      statement, valid_from, valid_to, sources, confidence)
    select ${agentId}::uuid, ${threadId}::uuid, ${extractor}::text, ${origin}::text, id, subject, "subjectKey", predicate,
      object, kind, "isNegated", "isSingle", statement, "validFrom", "validTo", sources::uuid[], confidence
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as given (
      id uuid, subject text, "subjectKey" text, predicate text, object text, kind text, "isNegated" boolean,
      "isSingle" boolean, statement text, "validFrom" timestamptz, "validTo" timestamptz, sources text, confidence real)
    on conflict (agent_id, id) do nothing`
  if (count > 0) await noteFactChange(tx, { agentId, threadId })
  return count
}

/**
 * Marks a fact as corrected by another one of its scope.
 *
 * @throws PermanentError `NOT_FOUND`
 * @throws ConflictError if another fact corrected it before
 */
export async function correctFact(
  tx: Tx,
  { agentId, id, correctedBy }: { readonly agentId: string; readonly id: string; readonly correctedBy: string },
): Promise<void> {
  const [row] = await tx<{ correctedBy: string; threadId: string | null }[]>`
    update heddle.facts set corrected_by = coalesce(corrected_by, ${correctedBy}::uuid)
    where agent_id = ${agentId} and id = ${id}
    returning corrected_by, thread_id`
  if (row === undefined) throw notFound('fact', id, 'list facts shows those of the agent')
  await noteFactChange(tx, { agentId, threadId: row.threadId })
  if (row.correctedBy !== correctedBy) {
    throw new ConflictError(`corrects: fact ${id} was corrected by ${row.correctedBy}`, {
      field: 'corrects',
      received: id,
      hint: 'correct that one instead',
    })
  }
}

/** Marks a fact as retracted; once is enough. The one that it corrected holds again. @returns whether it exists */
export async function retractFact(
  tx: Tx,
  { agentId, id }: { readonly agentId: string; readonly id: string },
): Promise<boolean> {
  const [[row]] = await Promise.all([
    tx<{ threadId: string | null }[]>`
      update heddle.facts set retracted_at = coalesce(retracted_at, clock_timestamp())
      where agent_id = ${agentId} and id = ${id}
      returning thread_id`,
    tx`update heddle.facts set corrected_by = null where agent_id = ${agentId} and corrected_by = ${id}`,
  ])
  if (row === undefined) return false
  await noteFactChange(tx, { agentId, threadId: row.threadId })
  return true
}

/** The short codes of messages, by id, without those that are gone. */
export async function loadCodes(
  tx: Tx,
  { threadId, ids }: { readonly threadId: string; readonly ids: readonly string[] },
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx<{ id: string; code: string }[]>`
    select message.id, message.code
    from ${givenIds(tx, ids)}
    cross join lateral (
      select id, code, kept_aside from ${messageOf(tx, threadId)} as messages
      where ${byId(tx, tx`messages`)}) as message
    where message.kept_aside is distinct from 'erased'`
  return new Map(rows.map(({ id, code }) => [id, code]))
}

/** Keeps a thread and its messages from being erased until the end of the transaction. @returns whether it exists */
export async function holdForFacts(
  tx: Tx,
  { agentId, threadId }: { readonly agentId: string; readonly threadId: string },
): Promise<boolean> {
  const { count } = await tx`
    select from heddle.threads where id = ${threadId} and agent_id = ${agentId} for share`
  return count > 0
}
