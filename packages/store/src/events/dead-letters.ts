import { randomUUID } from 'node:crypto'
import type { Tx } from '../connection/connection.js'
import { idsIn, withoutErased } from '../erasure/messages/erased-payloads.js'
import { ERASED_BEFORE } from '../messages/append-plan.js'
import { shareErasureLock } from '../messages/tombstones.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'
import { isOwn } from '../sql/own-project.js'
import { toStorable } from '../sql/text.js'

export interface NewDeadLetter
  extends Columns<'deadLetters', 'stage' | 'jobId' | 'threadId' | 'payload' | 'error' | 'attempts'> {
  /** The agent, if the job names it. */
  readonly agentId?: string | null
}

/** A dead letter without its payload, which may be as large as the largest job; see {@link loadDeadLetterPayload}. */
export type DeadLetter = Columns<
  'deadLetters',
  'id' | 'projectId' | 'stage' | 'jobId' | 'threadId' | 'error' | 'attempts' | 'failedAtMs' | 'redrivenAtMs'
>

/**
 * Stores a job that failed permanently. It belongs to the project of the transaction; a job that names no project, or cannot
 * be parsed, is stored under `NIL_ID` of core.
 *
 * @returns the id of the dead letter; null if its thread, agent or project was erased, in which case nothing is stored
 */
export async function insertDeadLetter(tx: Tx, letter: NewDeadLetter): Promise<string | null> {
  const { threadId, agentId = null } = letter
  // The job belongs to an erased thread whose name is in use again: nothing of it may be stored.
  if (letter.error.facts?.[ERASED_BEFORE] !== undefined) return null
  const locked = shareErasureLock(tx)
  const payload = await withoutErasedMessages(tx, letter, locked)
  if (payload === null) return null
  const [, [kept]] = await Promise.all([
    locked,
    tx<{ id: string }[]>`
      insert into heddle.dead_letters (id, stage, job_id, thread_id, agent_id, payload, error, attempts)
      select
        ${randomUUID()}, ${letter.stage}, ${toStorable(letter.jobId)}, ${threadId}, ${agentId},
        ${payloadText(payload.left)}::text::json, ${JSON.stringify(letter.error)}::text::json,
        ${letter.attempts}::integer
      where not exists (
        select from heddle.tombstones
        where target_id in (${threadId}, ${agentId}, current_setting('heddle.project_id')::uuid))
      on conflict (project_id, stage, job_id) do update
        set attempts = greatest(dead_letters.attempts, excluded.attempts)
      returning id`,
  ])
  return kept?.id ?? null
}

/**
 * The payload of an ingest job without messages that were erased before it failed: an erasure finds dead letters only once they are
 * stored.
 *
 * @param locked the erasure lock, after which no erasure of these messages can begin
 * @returns null if nothing of it is left
 */
async function withoutErasedMessages(
  tx: Tx,
  { stage, threadId, payload }: NewDeadLetter,
  locked: Promise<unknown>,
): Promise<{ readonly left: unknown } | null> {
  const ids = stage === 'ingest' && threadId !== null ? idsIn(payload) : []
  if (ids.length === 0) return { left: payload }
  await locked
  const erased = await tx<{ messageId: string }[]>`
    select message_id from heddle.message_erasures
    where thread_id = ${threadId} and message_id = any(${asArray(ids)}::uuid[])`
  const left = withoutErased(payload, new Set(erased.map(({ messageId }) => messageId)))
  return left === null ? null : { left }
}

/**
 * Nesting levels of a stored payload: Postgres and JavaScript both parse JSON recursively, so deeper ones overflow a stack.
 */
const PAYLOAD_DEPTH_MAX = 1_000

/** Any producer decides how deep a payload is, and a dead letter that cannot be stored would block its job forever. */
function payloadText(payload: unknown): string {
  const isTooDeep = nestsDeeper(payload, PAYLOAD_DEPTH_MAX)
  return JSON.stringify(isTooDeep ? `not stored: more than ${PAYLOAD_DEPTH_MAX} levels deep` : (payload ?? null))
}

/** Recurses no deeper than `levels`, so it cannot overflow the stack either. */
function nestsDeeper(value: unknown, levels: number): boolean {
  if (levels < 0) return true
  if (value === null || typeof value !== 'object') return false
  for (const key in value) {
    if (nestsDeeper((value as Record<string, unknown>)[key], levels - 1)) return true
  }
  return false
}

export interface DeadLetterListing {
  readonly limit: number
  /** Only dead letters of this stage. */
  readonly stage?: string | undefined
  /** Only this one. */
  readonly id?: string | undefined
  /** Includes those that were redriven. */
  readonly withRedriven?: boolean
}

/**
 * Counts the dead letters of the project that were not redriven and can be. Those of `assemble` cannot: the requester
 * already has the error.
 */
export async function countDeadLetters(tx: Tx): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*) as count from heddle.dead_letters where ${isOwn(tx, 'dead_letters')} and redriven_at is null
      and stage <> 'assemble'`
  return row?.count ?? 0
}

export async function listDeadLetters(
  tx: Tx,
  { limit, stage, id, withRedriven = false }: DeadLetterListing,
): Promise<DeadLetter[]> {
  return await tx<DeadLetter[]>`
    select
      id, project_id, stage, job_id, thread_id, error, attempts,
      failed_at as failed_at_ms, redriven_at as redriven_at_ms
    from heddle.dead_letters
    where ${isOwn(tx, 'dead_letters')} and ${stage === undefined ? tx`true` : tx`stage = ${stage}`}
      and ${id === undefined ? tx`true` : tx`id = ${id}`}
      and ${withRedriven ? tx`true` : tx`redriven_at is null`}
    order by failed_at desc, id
    limit ${limit}`
}

/** @returns the job's payload as it was received, not parsed; undefined for an unknown id */
export async function loadDeadLetterPayload(tx: Tx, { id }: { id: string }): Promise<unknown> {
  const [row] = await tx<{ payload: unknown }[]>`
    select payload from heddle.dead_letters where id = ${id} and ${isOwn(tx, 'dead_letters')}`
  return row?.payload
}

/** @returns whether the dead letter exists and had not been redriven before */
export async function markRedriven(tx: Tx, { id }: { id: string }): Promise<boolean> {
  const { count } = await tx`
    update heddle.dead_letters set redriven_at = now()
    where id = ${id} and ${isOwn(tx, 'dead_letters')} and redriven_at is null`
  return count === 1
}
