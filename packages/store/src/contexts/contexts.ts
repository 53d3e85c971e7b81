import { type ContextRequest, type ContextResult, notFound } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import { shareErasureLock } from '../messages/tombstones.js'
import type { Columns } from '../schema/rows.js'
import { isOwn } from '../sql/own-project.js'
import { unpackResult } from './packed-result.js'
import { findPrepared } from './prepared-contexts.js'
import { hadLessTimeInRow, isSameRequest } from './repeated-requests.js'
import { rebuildContext } from './stored-contexts.js'

/** A context without its result. */
export interface ContextSummary
  extends Columns<
    'contexts',
    | 'id'
    | 'threadId'
    | 'status'
    | 'request'
    | 'requestedAtMs'
    | 'deadlineAtMs'
    | 'builtAtMs'
    | 'error'
    | 'stateId'
    | 'agentVersion'
    | 'headSeq'
    | 'budget'
    | 'tokensUsed'
    | 'summaryUsed'
  > {
  /** The time that the context shows; null unless built. */
  readonly asOfMs: number | null
  /** Whether it was built ahead of a request, and no request has used it since. */
  readonly isPrepared: boolean
}

export interface ContextRow extends ContextSummary {
  /** With its receipt; null unless built. */
  readonly result: ContextResult | null
  /** Whether it may answer later requests, too, like a prepared one. */
  readonly mayAnswerAgain: boolean
}

export interface ContextToRequest {
  readonly id: string
  readonly threadId: string
  readonly request: ContextRequest
  readonly deadlineAtMs: number
  /** The key by which a prepared context may be found, and the time. Default: prepared contexts are not used. */
  readonly prepared?: { readonly key: string; readonly nowMs: number } | undefined
}

/** The result of a request. */
export interface Asked {
  /** False if a context with this id was requested before, unless it only had too little time. */
  readonly isNew: boolean
  /** A prepared context that answers it, or null. */
  readonly ready: ContextResult | null
}

/**
 * Requests a context: the assemble stage works from the row and stores the result in it. If a prepared context answers the
 * request, it is returned, and no row is written. All statements are sent at once.
 *
 * @throws PermanentError `NOT_FOUND` if the thread was erased
 */
export async function requestContext(
  tx: Tx,
  { id, threadId, request, deadlineAtMs, prepared }: ContextToRequest,
): Promise<Asked> {
  const found =
    prepared === undefined
      ? tx`found as (select null::bytea as result where false)`
      : findPrepared(tx, { threadId, ...prepared })
  const [, , [asked]] = await Promise.all([
    commitSoon(tx),
    shareErasureLock(tx),
    tx<{ isNew: boolean; isErased: boolean; ready: Uint8Array | null }[]>`
      with ${found},
      erased as (
        select from heddle.tombstones where target_id in (${threadId}, current_setting('heddle.project_id')::uuid)
      ),
      requested as (
        insert into heddle.contexts (id, thread_id, status, request, deadline_at)
        select ${id}, ${threadId}, 'requested', ${JSON.stringify(request)}::text::json, ${deadlineAtMs}
        where not exists (select from found) and not exists (select from erased)
        on conflict (id) do update
        set status = 'requested', error = null, built_at = null, requested_at = now(), deadline_at = excluded.deadline_at
        where ${hadLessTimeInRow(tx)} and ${isSameRequest(tx)}
        returning id
      )
      select
        exists (select from requested) as is_new, exists (select from erased) as is_erased,
        (select result from found) as ready`,
  ])
  const { isNew = false, isErased = false, ready: bytes = null } = asked ?? {}
  const ready = bytes === null ? null : await unpackResult(bytes)
  if (isErased && ready === null) throw notFound('thread', request.thread, 'it was erased; use another name')
  return { isNew, ready }
}

/**
 * A context with its result: the delivered bytes while they are stored, else rebuilt from its lines.
 *
 * @param rebuild rebuild it in any case
 * @returns null if the project has no such context
 * @throws PermanentError `NOT_FOUND` if parts of it were erased, and names them
 */
export async function loadContext(
  tx: Tx,
  { id, rebuild = false }: { id: string; rebuild?: boolean },
): Promise<ContextRow | null> {
  const [row] = await tx<(ContextSummary & { mayAnswerAgain: boolean; delivered: Uint8Array | null })[]>`
    select ${summaryColumns(tx)}, prepared_key is not null as may_answer_again, (
      select result from heddle.context_deliveries where context_deliveries.context_id = contexts.id
    ) as delivered
    from heddle.contexts
    where id = ${id} and ${isOwn(tx, 'contexts')}
      and not exists (select from heddle.tombstones where tombstones.target_id = contexts.thread_id)`
  if (row === undefined) return null
  const { delivered, ...summary } = row
  if (summary.status !== 'built') return { ...summary, result: null }
  if (delivered !== null && !rebuild) return { ...summary, result: await unpackResult(delivered) }
  return { ...summary, result: await rebuildContext(tx, summary) }
}

/**
 * Makes the commit of this transaction not wait for the disk. A server crash may lose the requests of the last half second;
 * their callers send them again. Built contexts are never lost.
 */
function commitSoon(tx: Tx): Promise<unknown> {
  return tx`select set_config('synchronous_commit', 'off', true)`
}

export interface ContextListing {
  readonly threadId: string
  readonly limit: number
  /** The last context of the previous page. */
  readonly before?: { readonly requestedAtMs: number; readonly id: string }
}

/** A page of a thread's contexts, newest first, without prepared contexts that no request has used. */
export async function listContexts(tx: Tx, { threadId, limit, before }: ContextListing): Promise<ContextSummary[]> {
  return await tx<ContextSummary[]>`
    select ${summaryColumns(tx)}
    from heddle.contexts
    where thread_id = ${threadId} and prepared_count = 0
      and ${before === undefined ? tx`true` : tx`(requested_at, id) < (${before.requestedAtMs}, ${before.id})`}
    order by requested_at desc, id desc
    limit ${limit}`
}

function summaryColumns(tx: Tx) {
  return tx`
    id, thread_id, status, request, requested_at as requested_at_ms, deadline_at as deadline_at_ms,
    built_at as built_at_ms, shown_at as as_of_ms, error, state_id, agent_version, head_seq, budget, tokens_used, summary_used,
    prepared_count > 0 as is_prepared`
}
