import { type ContextRequest, type ContextResult, type ErrorData, notFound, RetryableError } from '@heddle/contracts'
import { asArray } from './arrays.js'
import type { Tx } from './connection.js'
import { shownItemsInsert } from './context-items.js'
import { dropOldDeliveries, isTurnToDrop } from './deliveries.js'
import { isOwn } from './own-project.js'
import { deflateJson, inflateJson, type PackedJson } from './packing.js'
import type { Prepared } from './prepared-contexts.js'
import { type LinesToStore, rebuildContext } from './stored-contexts.js'
import { shareErasureLock } from './tombstones.js'

/** A context without its result. */
export interface ContextSummary {
  readonly id: string
  readonly threadId: string
  readonly status: 'requested' | 'built' | 'failed'
  readonly request: ContextRequest
  readonly requestedAtMs: number
  /** The requester gives up then; past it nobody builds the context. */
  readonly deadlineAtMs: number
  readonly builtAtMs: number | null
  /** The moment that the context shows; null unless built. */
  readonly shownAtMs: number | null
  /** Why it failed. */
  readonly error: ErrorData | null
  readonly stateId: string | null
  readonly agentVersion: number | null
  readonly headSeq: number | null
  readonly budget: number | null
  readonly tokensUsed: number | null
  readonly summaryUsed: boolean | null
}

export interface ContextRow extends ContextSummary {
  /** With its receipt; null unless built. */
  readonly result: ContextResult | null
}

/**
 * Asks for a context: the row is what the assemble stage works from, and where its answer will stand. All statements are
 * sent at once.
 *
 * @returns false where a context of this id was asked for before
 * @throws PermanentError `NOT_FOUND` where the thread was erased
 */
export async function requestContext(
  tx: Tx,
  context: { id: string; threadId: string; request: ContextRequest; deadlineAtMs: number },
): Promise<boolean> {
  const { id, threadId, request, deadlineAtMs } = context
  const [, , [asked]] = await Promise.all([
    commitSoon(tx),
    shareErasureLock(tx),
    tx<{ isNew: boolean; isThere: boolean }[]>`
      with requested as (
        insert into heddle.contexts (id, thread_id, status, request, deadline_at)
        select ${id}, ${threadId}, 'requested', ${JSON.stringify(request)}::text::json, ${deadlineAtMs}
        where not exists (
          select from heddle.tombstones where target_id in (${threadId}, current_setting('heddle.project_id')::uuid))
        on conflict (id) do nothing
        returning id
      )
      select exists (select from requested) as is_new, exists (select from heddle.contexts where id = ${id}) as is_there`,
  ])
  if (asked?.isNew) return true
  if (!asked?.isThere) throw notFound('thread', request.thread, 'it was erased; use another name')
  return false
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
  const [row] = await tx<(ContextSummary & { delivered: Uint8Array | null })[]>`
    select ${summaryColumns(tx)}, (
      select result from heddle.context_deliveries where context_deliveries.context_id = contexts.id
    ) as delivered
    from heddle.contexts
    where id = ${id} and ${isOwn(tx, 'contexts')}
      and not exists (select from heddle.tombstones where tombstones.target_id = contexts.thread_id)`
  if (row === undefined) return null
  const { delivered, ...summary } = row
  if (summary.status !== 'built') return { ...summary, result: null }
  if (delivered !== null && !rebuild) return { ...summary, result: (await inflateJson(delivered)) as ContextResult }
  return { ...summary, result: await rebuildContext(tx, summary) }
}

export interface BuiltContext {
  readonly id: string
  readonly result: ContextResult
  /** The result as {@link packResult} packs it; where it is given, all statements are sent at once. Default: it is packed. */
  readonly packed?: PackedJson
  /** What is kept of it when the delivered bytes are gone; without it those stay with the context. */
  readonly stored?: LinesToStore
  /** The moment that it shows, in milliseconds since 1970. */
  readonly shownAtMs?: number
  readonly prepared?: Prepared | undefined
  /** Ids of the other threads that it tells of. */
  readonly mentions?: readonly string[]
}

/** A result as it is stored, for {@link finishContext}. */
export function packResult(result: ContextResult): Promise<PackedJson> {
  return deflateJson(result)
}

/**
 * Stores a built context. It is the first answer that counts: of two workers on one request, one answers.
 *
 * @returns false where the context was built or failed before
 * @throws RetryableError where a thread that it tells of, or the context that it is based on, was erased meanwhile: it is to
 *   be built again
 */
export async function finishContext(tx: Tx, built: BuiltContext): Promise<boolean> {
  const { id, result, stored, shownAtMs, prepared, mentions = [] } = built
  const { receipt } = result
  const packed = built.packed ?? (await packResult(result))
  const lines = stored?.asBase
  const baseId = stored?.baseId ?? null
  const shown = shownItemsInsert(tx, receipt)
  // Everything else hangs on the update: where the context is answered or erased, nothing is written.
  const [, [written]] = await Promise.all([
    mentions.length > 0 && recordMentions(tx, id, mentions),
    tx<{ finished: number; isBaseThere: boolean }[]>`
      with base as (
        select from (select) as one
        where ${baseId}::uuid is null or exists (select from heddle.context_lines where id = ${baseId})
      ),
      finished as (
        update heddle.contexts
        set
          status = 'built', built_at = now(), shown_at = ${shownAtMs ?? null}, state_id = ${receipt.stateId},
          agent_version = ${receipt.agentVersion}, head_seq = ${receipt.headSeq}, budget = ${result.budget},
          tokens_used = ${result.tokensUsed}, summary_used = ${result.summaryUsed}, hidden = ${stored?.hidden ?? null},
          digest = ${packed.digest}, prepared_key = ${prepared?.key ?? null}, lane = ${prepared?.lane ?? null},
          versions = ${prepared?.versions ?? null}, holds_until = ${prepared?.holdsUntilMs ?? null}
        where id = ${id} and status = 'requested' and exists (select from base)
        returning id, thread_id
      ),
      delivered as (
        insert into heddle.context_deliveries (context_id, result) select id, ${packed.bytes} from finished
      ),
      lines as (
        insert into heddle.context_lines (id, thread_id, chain_id, base_id, depth, delta)
        select id, thread_id, ${lines?.chainId ?? null}, ${baseId}, ${lines?.depth ?? 0}, ${stored?.delta ?? null}
        from finished
        where ${stored !== undefined}
      )
      ${shown === null ? tx`` : tx`, shown as (${shown})`}
      select (select count(*) from finished) as finished, exists (select from base) as is_base_there`,
    stored !== undefined && isTurnToDrop(id) && dropOldDeliveries(tx, id),
  ])
  if (written?.isBaseThere === false)
    throw new RetryableError('INTERNAL', 'the context that this one is based on was removed meanwhile')
  return written?.finished === 1
}

/** The threads are held, as for what is published for them: an erasure finds the context by them. */
async function recordMentions(tx: Tx, id: string, mentions: readonly string[]): Promise<void> {
  const [{ count: standing }] = await Promise.all([
    tx`select from heddle.threads where id = any(${asArray(mentions)}::uuid[]) order by id for key share`,
    tx`
      insert into heddle.context_mentions (thread_id, context_id)
      select thread.id, context.id
      from heddle.contexts as context
      join heddle.threads as thread on thread.id = any(${asArray(mentions)}::uuid[])
      where context.id = ${id}
      on conflict do nothing`,
  ])
  if (standing < new Set(mentions).size)
    throw new RetryableError('INTERNAL', 'a thread that the context tells of was erased meanwhile')
}

/**
 * The transaction at hand is visible at its commit, which does not wait for the disk. A server that crashes may take back
 * the requests of its last half second; whoever waits for them asks again. What was built is never taken back.
 */
function commitSoon(tx: Tx): Promise<unknown> {
  return tx`select set_config('synchronous_commit', 'off', true)`
}

/** @returns false where the context was built or failed before */
export async function failContext(tx: Tx, { id, error }: { id: string; error: ErrorData }): Promise<boolean> {
  const { count } = await tx`
    update heddle.contexts
    set status = 'failed', built_at = now(), error = ${JSON.stringify(error)}::text::json
    where id = ${id} and status = 'requested'`
  return count === 1
}

export interface ContextListing {
  readonly threadId: string
  readonly limit: number
  /** The context with which the page before ended. */
  readonly before?: { readonly requestedAtMs: number; readonly id: string }
}

/** A page of a thread's contexts, newest first. */
export async function listContexts(tx: Tx, { threadId, limit, before }: ContextListing): Promise<ContextSummary[]> {
  return await tx<ContextSummary[]>`
    select ${summaryColumns(tx)}
    from heddle.contexts
    where thread_id = ${threadId}
      and ${before === undefined ? tx`true` : tx`(requested_at, id) < (${before.requestedAtMs}, ${before.id})`}
    order by requested_at desc, id desc
    limit ${limit}`
}

function summaryColumns(tx: Tx) {
  return tx`
    id, thread_id, status, request, requested_at as requested_at_ms, deadline_at as deadline_at_ms,
    built_at as built_at_ms, shown_at as shown_at_ms, error, state_id, agent_version, head_seq, budget, tokens_used, summary_used`
}
