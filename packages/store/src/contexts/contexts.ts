import { type ContextRequest, type ContextResult, notFound } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import { shareErasureLock } from '../messages/tombstones.js'
import type { Columns } from '../schema/rows.js'
import { isOwn } from '../sql/own-project.js'
import { unpackResult } from './packed-result.js'
import { findPrepared } from './prepared-contexts.js'
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
  /** The moment that the context shows; null unless built. */
  readonly asOfMs: number | null
  /** Whether it was built ahead of a request, and no request has used it since. */
  readonly isPrepared: boolean
}

export interface ContextRow extends ContextSummary {
  /** With its receipt; null unless built. */
  readonly result: ContextResult | null
  /** Whether it may answer later requests, too, as one that is prepared does. */
  readonly mayAnswerAgain: boolean
}

export interface ContextToRequest {
  readonly id: string
  readonly threadId: string
  readonly request: ContextRequest
  readonly deadlineAtMs: number
  /** The key under which one may have been prepared that answers it, and the time. Default none. */
  readonly prepared?: { readonly key: string; readonly nowMs: number } | undefined
}

/** What became of a request. */
export interface Asked {
  /** False where a context of this id was asked for before. */
  readonly isNew: boolean
  /** What was prepared and answers it. */
  readonly ready: ContextResult | null
}

/**
 * Asks for a context: the row is what the assemble stage works from, and where its answer will stand. Where one was prepared
 * that answers it, that is the answer, and nothing is asked for. All statements are sent at once.
 *
 * @throws PermanentError `NOT_FOUND` where the thread was erased
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
        on conflict (id) do nothing
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
 * A context with its result: the delivered bytes while they are kept, else what is rebuilt from the store.
 *
 * @param rebuild whether to rebuild it in any case
 * @returns null where the project has no such context
 * @throws PermanentError `NOT_FOUND` where parts of it are gone, with what they were
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
 * The transaction at hand is visible at its commit, which does not wait for the disk. A server that crashes may take back
 * the requests of its last half second; whoever waits for them asks again. What was built is never taken back.
 */
function commitSoon(tx: Tx): Promise<unknown> {
  return tx`select set_config('synchronous_commit', 'off', true)`
}

export interface ContextListing {
  readonly threadId: string
  readonly limit: number
  /** The context with which the page before ended. */
  readonly before?: { readonly requestedAtMs: number; readonly id: string }
}

/** A page of a thread's contexts, newest first. What was prepared and never taken, nobody asked for. */
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
