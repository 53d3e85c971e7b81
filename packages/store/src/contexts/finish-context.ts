import { type ContextRequest, type ContextResult, type ErrorData, RetryableError } from '@heddle/contracts'
import { type AskedLane, askedLaneInsert } from '../compaction/kept-lanes.js'
import type { Tx } from '../connection/connection.js'
import { formatTime } from '../connection/times.js'
import { timeOfId } from '../messages/append-plan.js'
import { agentStands, shareErasureLock, threadStands } from '../messages/tombstones.js'
import { asArray, asQuotedArray } from '../sql/arrays.js'
import { sectionCounts, shownItemsInsert } from './context-items.js'
import { dropOldDeliveries, isTurnToDrop } from './deliveries.js'
import { type Dependence, versionsOf } from './dependence.js'
import { type PackedResult, packResult } from './packed-result.js'
import type { Prepared } from './prepared-contexts.js'
import { hadLessTimeInRow, isSameRequest } from './repeated-requests.js'
import type { LinesToStore } from './stored-contexts.js'

/** A request that came with its job, so that there may be no row of it. */
export interface AskedContext {
  readonly threadId: string
  readonly request: ContextRequest
  readonly deadlineAtMs: number
}

/** An agent whose blocks a context shows, as it was when they were read. */
export interface SharingAgent {
  readonly agentId: string
  /** After an erasure, another agent of this name has the same id and another time. */
  readonly createdAtMs: number
}

export interface BuiltContext {
  readonly id: string
  readonly result: ContextResult
  /** The result in its stored form; if given, all statements are sent at once. Default: it is packed here. */
  readonly packed?: PackedResult
  /** Its lines, from which it is rebuilt once the delivered bytes are removed. Without them the bytes are kept. */
  readonly stored?: LinesToStore
  /** Whether the request did not set how to fill the budget: then the next contexts of that budget use the same. Default false. */
  readonly isFillChosen?: boolean
  /** The time that it shows, in milliseconds since 1970. */
  readonly asOfMs?: number
  readonly prepared?: Prepared | undefined
  /** Ids of the other threads that it mentions. */
  readonly mentions?: readonly string[]
  /** The agents that share memory blocks with it. */
  readonly sharers?: readonly SharingAgent[]
  /** The `erased_count` of the thread that it was built from. Default: not compared. */
  readonly erasedCount?: number
  /** The same of the threads of its scope. Default null: it shows no messages of others. */
  readonly scopeErased?: ScopeErased | null
  /** The messages of other threads that it recalls, by their ids. */
  readonly recalledIds?: readonly string[]
  /** Stores it only if these are the thread's versions, for a context that was built without reading them. Default: any. */
  readonly ifCurrent?: Pick<Dependence, 'lanes' | 'versions'> | undefined
  /** The lane of the request, if it is to be recorded. */
  readonly askedLane?: AskedLane | undefined
  /** If there may be no row of the request: then one is inserted. Default: only an existing row is updated. */
  readonly asked?: AskedContext | undefined
}

/**
 * Stores a built context. Of two workers on one request, only the first result is stored.
 *
 * @returns false if the context was built or failed before, or erased with its thread, or is not current (`ifCurrent`)
 * @throws RetryableError if messages or blocks of other agents that it was built from, a thread that it mentions, or the context
 *   that it is based on, were erased meanwhile: it must be built again
 */
export async function finishContext(tx: Tx, built: BuiltContext): Promise<boolean> {
  const { id, result, stored, mentions = [], sharers = [] } = built
  const packed = built.packed ?? (await packResult(result))
  const lines = stored?.asBase
  const baseId = stored?.baseId ?? null
  const shown = shownItemsInsert(tx, result)
  // Everything else depends on the context's row: if it was finished or erased before, nothing is written.
  const [, held, , [written]] = await Promise.all([
    built.erasedCount !== undefined && holdThread(tx, built),
    mentions.length > 0 && holdThreads(tx, mentions),
    sharers.length > 0 && holdAgents(tx, sharers),
    tx<{ finished: number; isBaseThere: boolean; isWhole: boolean }[]>`
      with whole as materialized (${unlessChanged(tx, built)}),
      base as (
        select from whole
        where ${baseId}::uuid is null or exists (select from heddle.context_lines where id = ${baseId})
      ),
      ${built.asked === undefined ? updated(tx, { ...built, packed }) : inserted(tx, { ...built, packed }, built.asked)},
      ${packed.bytes === null ? tx`` : tx`delivered as (${delivery(tx, packed.bytes)}),`}
      lines as (
        insert into heddle.context_lines (id, thread_id, chain_id, base_id, depth, delta)
        select id, thread_id, ${lines?.chainId ?? null}, ${baseId}, ${lines?.depth ?? 0}, ${stored?.delta ?? null}
        from finished
        where ${stored !== undefined}
      )
      ${shown === null ? tx`` : tx`, shown as (${shown})`}
      ${built.askedLane === undefined ? tx`` : tx`, ${askedLaneInsert(tx, built.askedLane)}`}
      select
        (select count(*) from finished) as finished, exists (select from base) as is_base_there,
        exists (select from whole) as is_whole`,
    mentions.length > 0 && recordMentions(tx, id, mentions),
    stored !== undefined && isTurnToDrop(id) && dropOldDeliveries(tx, id),
  ])
  if (built.ifCurrent !== undefined && written?.isWhole === false) return false
  if (held && held.count < new Set(mentions).size)
    throw new RetryableError('INTERNAL', 'a thread that the context mentions was erased meanwhile')
  if (written?.isWhole === false)
    throw new RetryableError('INTERNAL', 'messages or blocks that the context was built from were erased meanwhile')
  if (written?.isBaseThere === false)
    throw new RetryableError('INTERNAL', 'the context that this one is based on was removed meanwhile')
  return written?.finished === 1
}

/**
 * Locks the thread. A statement of its own: the next one sees what an erasure of messages committed while this one waited, and
 * an erasure that waits for this transaction finds its context.
 */
function holdThread(tx: Tx, { id, asked }: BuiltContext) {
  return tx`
    select from heddle.threads
    where id = coalesce(${asked?.threadId ?? null}::uuid, (select thread_id from heddle.contexts where id = ${id}))
    for key share`
}

/** A row, unless messages or blocks that the context shows were erased since they were read, or its thread has other versions. */
function unlessChanged(tx: Tx, built: BuiltContext) {
  const { id, asked, erasedCount, mentions = [], sharers = [], recalledIds = [], scopeErased = null, ifCurrent } = built
  const threadId = asked?.threadId ?? null
  return tx`
    select from (select) as one
    where ${
      erasedCount === undefined
        ? tx`true`
        : tx`
            not exists (
              select from heddle.stage_cursors as cursor
              where cursor.thread_id = coalesce(${threadId}::uuid, (select thread_id from heddle.contexts where id = ${id}))
                and cursor.erased_count <> ${erasedCount})`
    }
    and ${
      recalledIds.length === 0
        ? tx`true`
        : tx`
            not exists (
              select from heddle.message_erasures
              where thread_id = any(${asArray(mentions)}::uuid[]) and message_id = any(${asArray(recalledIds)}::uuid[]))`
    }
    and ${
      sharers.length === 0
        ? tx`true`
        : tx`
            not exists (
              select from unnest(
                ${asArray(idsOf(sharers))}::uuid[],
                ${asQuotedArray(sharers.map(({ createdAtMs }) => formatTime(createdAtMs)))}::timestamptz[]
              ) as read (id, created_at)
              where not exists (
                select from heddle.agents as agent
                where agent.id = read.id and agent.created_at = read.created_at and ${agentStands(tx)}))`
    }
    and ${scopeErased === null ? tx`true` : tx`${scopeErased.erasedCount} = ${erasedIn(tx, scopeErased.threadIds)}`}
    and ${
      ifCurrent === undefined
        ? tx`true`
        : tx`${ifCurrent.versions} = ${versionsOf(tx, tx`${threadId}::uuid`, tx`${asArray(ifCurrent.lanes)}::text[]`)}`
    }`
}

/** Threads, and how many of their messages were erased when they were read. */
export interface ScopeErased {
  readonly threadIds: readonly string[]
  readonly erasedCount: number
}

function erasedIn(tx: Tx, threadIds: readonly string[]) {
  return tx`(
    select coalesce(sum(erased_count), 0)::integer from heddle.stage_cursors
    where thread_id = any(${asArray(threadIds)}::uuid[]))`
}

/** To be read in the transaction that reads the messages. */
export async function loadScopeErased(tx: Tx, threadIds: readonly string[]): Promise<ScopeErased> {
  const [row] = await tx<{ erasedCount: number }[]>`select ${erasedIn(tx, threadIds)} as erased_count`
  return { threadIds, erasedCount: row?.erasedCount ?? 0 }
}

function delivery(tx: Tx, bytes: Uint8Array) {
  return tx`insert into heddle.context_deliveries (context_id, result) select id, ${bytes} from finished`
}

type PackedContext = BuiltContext & { readonly packed: PackedResult }

/** `finished`: the row of the request, now with the status `built`. */
function updated(tx: Tx, context: PackedContext) {
  return tx`
    finished as (
      update heddle.contexts
      set (${columns(tx)}) = row(${values(tx, context)})
      where id = ${context.id} and status = 'requested' and exists (select from base)
      returning id, thread_id
    )`
}

/**
 * `finished`: the inserted row with the status `built`, or the row that was inserted meanwhile. The thread is locked, as for
 * all data that is derived from it: after its erasure no row is written.
 */
function inserted(tx: Tx, context: PackedContext, { threadId, request, deadlineAtMs }: AskedContext) {
  return tx`
    held as (
      select id from heddle.threads as thread
      where id = ${threadId} and ${threadStands(tx)} and exists (
        -- Built of an erased thread of the same name, or asked of it, it is not this one's.
        select from heddle.stage_cursors as cursor
        where cursor.thread_id = thread.id and cursor.base_seq <= ${context.result.receipt.headSeq}::bigint
          and coalesce(cursor.erased_at <= ${timeOfId(context.id)}::timestamptz, true))
      for key share
    ),
    finished as (
      insert into heddle.contexts (id, thread_id, request, deadline_at, requested_at, ${columns(tx)})
      select
        ${context.id}, held.id, ${JSON.stringify(request)}::text::json, ${deadlineAtMs},
        -- No later than what it shows: contexts of the past are found by it.
        least(now(), ${context.asOfMs ?? null}::timestamptz), ${values(tx, context)}
      from held where exists (select from base)
      on conflict (id) do update
      set (${columns(tx)}) = row(${excluded(tx)}), error = null,
        requested_at = case contexts.status when 'failed' then excluded.requested_at else contexts.requested_at end
      where ${isOpen(tx)} and ${isSameRequest(tx)}
      returning id, thread_id
    )`
}

/** The row of a request under way, or of an attempt that had less time. */
function isOpen(tx: Tx) {
  return tx`(contexts.status = 'requested' or ${hadLessTimeInRow(tx)})`
}

const builtColumns = [
  'status',
  'built_at',
  'shown_at',
  'state_id',
  'agent_version',
  'head_seq',
  'budget',
  'tokens_used',
  'summary_used',
  'hidden',
  'digest',
  'element_digest',
  'prepared_key',
  'lane',
  'versions',
  'holds_until',
  'fill',
  'sections',
] as const

function columns(tx: Tx) {
  return tx.unsafe(builtColumns.join(', '))
}

function excluded(tx: Tx) {
  return tx.unsafe(builtColumns.map((column) => `excluded.${column}`).join(', '))
}

/** In the order of the columns. */
function values(tx: Tx, { result, packed, stored, asOfMs, prepared, isFillChosen = false }: PackedContext) {
  const { receipt } = result
  return tx`
    'built', now(), ${asOfMs ?? null}::timestamptz, ${receipt.stateId}::uuid, ${receipt.agentVersion}::integer,
    ${receipt.headSeq}::bigint, ${result.budget}::integer, ${result.tokensUsed}::integer, ${result.summaryUsed}::boolean,
    ${stored?.hidden ?? null}::bytea, ${packed.digest}::bytea, ${packed.elementDigest}::bytea,
    ${prepared?.key ?? null}::text, ${prepared?.lane ?? null}::text, ${prepared?.versions ?? null}::text,
    ${prepared?.holdsUntilMs ?? null}::timestamptz,
    ${isFillChosen && receipt.scope === undefined ? (receipt.fill ?? null) : null}::text,
    ${sectionCounts(receipt)}::text::json`
}

/** Locked, so that an erasure of one of them finds the context. */
function holdThreads(tx: Tx, ids: readonly string[]) {
  return tx`select from heddle.threads where id = any(${asArray(ids)}::uuid[]) order by id for key share`
}

/** Locked, so that an erasure of one of them finds the context; the next statement sees whether it began before. */
function holdAgents(tx: Tx, sharers: readonly SharingAgent[]) {
  return tx`select from heddle.agents where id = any(${asArray(idsOf(sharers))}::uuid[]) order by id for key share`
}

const idsOf = (sharers: readonly SharingAgent[]) => sharers.map(({ agentId }) => agentId)

function recordMentions(tx: Tx, id: string, mentions: readonly string[]) {
  return tx`
    insert into heddle.context_mentions (thread_id, context_id)
    select thread.id, context.id
    from heddle.contexts as context
    join heddle.threads as thread on thread.id = any(${asArray(mentions)}::uuid[])
    where context.id = ${id} and context.status = 'built'
    on conflict do nothing`
}

export interface FailedContext {
  readonly id: string
  readonly error: ErrorData
  /** As for {@link finishContext}. */
  readonly asked?: AskedContext | undefined
}

/** @returns false if the context was built or failed before, or erased with its thread, or its row is of a request with more time */
export async function failContext(tx: Tx, { id, error, asked }: FailedContext): Promise<boolean> {
  const reason = JSON.stringify(error)
  if (asked === undefined) {
    const { count } = await tx`
      update heddle.contexts set status = 'failed', built_at = now(), error = ${reason}::text::json
      where id = ${id} and status = 'requested'`
    return count === 1
  }
  // The thread need not exist: that may be the reason of the failure.
  const [, { count }] = await Promise.all([
    shareErasureLock(tx),
    tx`
      insert into heddle.contexts (id, thread_id, status, request, deadline_at, built_at, error)
      select
        ${id}, ${asked.threadId}, 'failed', ${JSON.stringify(asked.request)}::text::json, ${asked.deadlineAtMs}, now(),
        ${reason}::text::json
      where not exists (
        select from heddle.tombstones
        where target_id in (${asked.threadId}, current_setting('heddle.project_id')::uuid))
      on conflict (id) do update
      set status = 'failed', built_at = now(), error = excluded.error, deadline_at = excluded.deadline_at
      -- A repeat with less time fails without it.
      where ${isOpen(tx)} and contexts.deadline_at <= excluded.deadline_at and ${isSameRequest(tx)}`,
  ])
  return count === 1
}
