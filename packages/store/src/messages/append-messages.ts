import { RetryableError } from '@heddle/contracts'
import { agentIdOf, CODE_CHARACTERS, shortCode, threadIdOf } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { formatTime } from '../connection/times.js'
import { commitBehind } from '../connection/transaction.js'
import { attachRequestContexts } from '../contexts/request-contexts.js'
import { lineageIds } from '../forks/lineage.js'
import { divideByCode, findShared } from '../forks/shared-ids.js'
import { insertIterations, lookUpIterations, type PlannedIteration } from '../iterations/iterations.js'
import type { Columns } from '../schema/rows.js'
import { asArray, asQuotedArray } from '../sql/arrays.js'
import { AFTER_ALL_LETTERS, byId } from '../sql/by-id.js'
import {
  type Append,
  type AppendOutcome,
  type AppendSituation,
  type LockedThread,
  type NamedAppend,
  type PlannedMessage,
  planAppends,
  textFault,
} from './append-plan.js'
import { ensureThreads } from './ensure-threads.js'
import { insertMessages } from './insert-messages.js'
import { holdPartContents } from './part-contents.js'
import { sourceHash } from './source-hash.js'

export interface AppendBatch {
  readonly projectId: string
  /** Name of the project, for its first message. */
  readonly projectName?: string
  readonly appends: readonly Append[]
  /**
   * Assumes that all messages are new, and does not look up their ids, which is faster. If one is not, the whole batch
   * fails with {@link isRepeat}; try it again without this option.
   */
  readonly assumeNew?: boolean
  /**
   * Assumes that no short code of a new message is taken: two of a thread are almost never the same, and an insert that
   * allows for collisions takes half as long again. If one is taken, the batch fails in the same way.
   */
  readonly assumeFreeCodes?: boolean
  /** Nothing else is written in the transaction, so it may commit with the last statements. Default false. */
  readonly isLast?: boolean
}

/**
 * Stores a batch of appends, the most frequent write, in a constant number of round trips.
 *
 * Invariants: each thread's sequence has no gaps and no repeats, since its cursor row is locked from before the look-up of
 * known messages until the commit; cursors are locked in the order of their ids, so batches cannot deadlock; an append is
 * stored whole or not at all; a message that is stored already with the same fields is counted and stays unchanged.
 *
 * @returns one outcome for each append, in their order; conflicts and refusals are outcomes, not exceptions
 */
export async function appendMessages(tx: Tx, given: AppendBatch): Promise<AppendOutcome[]> {
  const batch = holdsIterations(given) ? { ...given, assumeNew: false } : given
  const appends = batch.appends.map((append) => ({
    ...append,
    agentId: agentIdOf(batch.projectId, append.agent),
    threadId: threadIdOf(batch.projectId, append.thread),
  }))
  const locked = await lockThreads(tx, batch, appends)
  const plan = planAppends(appends, withIterations(locked, await lookUpIterations(tx, appends)))
  if (plan.messages.length > 0) {
    const { receivedAtMs } = locked
    const { assumeNew = false, assumeFreeCodes = assumeNew, isLast = false } = batch
    const parts = plan.messages.flatMap(({ message }) => message.parts ?? [])
    if (parts.length > 0) await holdPartContents(tx, parts)
    const replies = plan.messages.flatMap(({ threadId, seq, message: { input } }) =>
      input.contextId === undefined ? [] : [{ threadId, seq, contextId: input.contextId }],
    )
    const iterations = plan.messages.flatMap(iterationOf)
    const { free, taken } = await divideByCode(tx, plan.messages, locked.forks)
    await Promise.all([
      insertMessages(tx, free, { receivedAtMs, assumeFreeCodes }),
      taken.length > 0 && insertMessages(tx, taken, { receivedAtMs }, CODE_CHARACTERS + 1),
      advanceHeads(tx, plan.threads),
      iterations.length > 0 && insertIterations(tx, iterations),
      replies.length > 0 && attachRequestContexts(tx, replies),
      // The result of the insert shows which codes were taken; their messages are inserted again with longer codes.
      assumeFreeCodes && isLast && commitBehind(tx),
    ])
  }
  return plan.outcomes
}

/** Then ids are looked up: a repeated iteration must not look like another one with its number. */
function holdsIterations({ appends }: AppendBatch): boolean {
  return appends.some(({ messages }) => messages.some(({ iteration }) => iteration !== undefined))
}

function iterationOf({ threadId, seq, iterationNumber: number = null, message }: PlannedMessage): PlannedIteration[] {
  const { iteration } = message
  return iteration === undefined || number === null
    ? []
    : [{ threadId, seq, number, message: { ...message, iteration } }]
}

/** Adds stored iterations; those without a message are compared by their own fingerprints. */
function withIterations(
  situation: AppendSituation,
  iterations: Awaited<ReturnType<typeof lookUpIterations>>,
): AppendSituation {
  if (iterations.size === 0) return situation
  const known = new Map(situation.known)
  for (const [threadId, found] of iterations) {
    const older = found.known.flatMap(({ id, fingerprint }) =>
      fingerprint === null ? [] : [[id, fingerprint] as const],
    )
    if (older.length > 0) known.set(threadId, new Map([...(known.get(threadId) ?? []), ...older]))
  }
  return { ...situation, known, iterations }
}

/** Whether a batch failed because a message that it assumed to be new is stored already, or its short code is taken. */
export function isRepeat(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || error.code !== UNIQUE_VIOLATION) return false
  return 'constraint_name' in error && REPEATED_KEYS.test(String(error.constraint_name))
}

const UNIQUE_VIOLATION = '23505'
/** `messages_code`, which follows from the id, or as Postgres names it on a partition: `messages_3_thread_id_code_key`. */
const REPEATED_KEYS = /^messages_(\w+_thread_id_)?code(_key\d*)?$/

/** Creates the missing threads of a batch, locks all of them, and looks up the stored messages with the same ids. */
async function lockThreads(tx: Tx, batch: AppendBatch, appends: readonly NamedAppend[]): Promise<AppendLookup> {
  const { projectId } = batch
  const threads = new Map(appends.map((append) => [append.threadId, append]))
  const situation = await look(tx, batch, appends, [...threads.keys()])
  const isErased = ({ agentId, threadId }: NamedAppend) =>
    situation.erased.has(projectId) || situation.erased.has(agentId) || situation.erased.has(threadId)
  const open = appends.filter((append) => !isErased(append) && textFault(append) === null)
  const openIds = [...new Set(open.map(({ threadId }) => threadId))]
  if (openIds.every((threadId) => situation.threads.has(threadId))) return situation

  // A new thread belongs to the agent of its first append.
  const wanted = new Map([...open].reverse().map((append) => [append.threadId, append]))
  const missing = [...wanted.values()].filter(({ threadId }) => !situation.present.has(threadId))
  if (missing.length > 0) await ensureThreads(tx, projectId, missing, batch.projectName)
  const again = await look(tx, batch, appends, openIds)
  // The transaction fails, so nothing that it created stays; the next attempt is refused.
  if (missing.some(({ agentId, threadId }) => [projectId, agentId, threadId].some((id) => again.erased.has(id))))
    throw new RetryableError('INTERNAL', 'the thread, its agent or its project was erased during the append')
  const lost = openIds.find((threadId) => !again.threads.has(threadId) && !again.erased.has(threadId))
  if (lost !== undefined) throw new RetryableError('INTERNAL', `thread ${lost} was removed during the append`)
  return again
}

type AppendLookup = AppendSituation & {
  readonly present: ReadonlySet<string>
  /** Threads that share messages with others. */
  readonly forks: ReadonlySet<string>
}

function forksOf(locked: readonly LockedRow[]): ReadonlySet<string> {
  return new Set(locked.flatMap(({ threadId, sharedSeq }) => (sharedSeq > 0 ? [threadId] : [])))
}

/** One round trip. If a thread does not exist yet, nothing is locked: `ensureThreads` must create it first. */
async function look(
  tx: Tx,
  { projectId, assumeNew = false }: AppendBatch,
  appends: readonly NamedAppend[],
  threadIds: readonly string[],
): Promise<AppendLookup> {
  const targets = [projectId, ...new Set(appends.map(({ agentId }) => agentId)), ...threadIds]
  // Owners are read by a subquery for each row: one index look-up each, whatever number of threads the planner assumes.
  const [locked, tombstones, known] = await Promise.all([
    tx<LockedRow[]>`
      select
        cursor.ctid::text as place, cursor.thread_id, cursor.head_seq, cursor.erased_at as erased_at_ms, cursor.erased_count,
        cursor.tokens_estimate, cursor.last_message_at as last_message_at_ms, cursor.shared_seq,
        date_trunc('milliseconds', clock_timestamp()) as received_at_ms,
        (select agent_id from heddle.threads as thread where thread.id = cursor.thread_id) as agent_id
      from heddle.stage_cursors as cursor
      where cursor.thread_id = any(${asArray(threadIds)}::uuid[])
        and ${threadIds.length} = (
          select count(*) from heddle.stage_cursors where thread_id = any(${asArray(threadIds)}::uuid[]))
      order by cursor.thread_id
      for update of cursor`,
    tx<{ targetId: string }[]>`
      select target_id from heddle.tombstones where target_id = any(${asArray(targets)}::uuid[])`,
    assumeNew ? [] : lookUp(tx, appends),
  ])
  return {
    projectId,
    // Without a thread nothing is placed.
    receivedAtMs: locked[0]?.receivedAtMs ?? Number.NEGATIVE_INFINITY,
    threads: new Map(
      locked.map(({ place, threadId, agentId, headSeq, tokensEstimate, lastMessageAtMs, erasedAtMs }) => [
        threadId,
        { place, agentId: agentId ?? '', headSeq, tokensEstimate, latestAtMs: lastMessageAtMs, erasedAtMs },
      ]),
    ),
    erasedMessages: await findErased(tx, appends, locked),
    erasedSources: await findErasedSources(tx, appends, locked),
    present: new Set(locked.length === threadIds.length ? threadIds : await presentOf(tx, threadIds)),
    known: byThread([...known, ...(await findShared(tx, appends, forksOf(locked)))]),
    forks: forksOf(locked),
    erased: new Set(tombstones.map(({ targetId }) => targetId)),
  }
}

function byThread(
  stored: readonly { threadId: string; id: string; fingerprint: string }[],
): Map<string, Map<string, string>> {
  const threads = new Map<string, Map<string, string>>()
  for (const { threadId, id, fingerprint } of stored) {
    const ids = threads.get(threadId) ?? new Map<string, string>()
    threads.set(threadId, ids.set(id, fingerprint))
  }
  return threads
}

interface LockedRow
  extends Columns<
    'stageCursors',
    'threadId' | 'headSeq' | 'tokensEstimate' | 'lastMessageAtMs' | 'erasedAtMs' | 'erasedCount' | 'sharedSeq'
  > {
  readonly place: string
  readonly receivedAtMs: number
  readonly agentId: string | null
}

/** Messages of the batch that were erased. Read only for threads whose name was erased before, which are few. */
async function findErased(
  tx: Tx,
  appends: readonly NamedAppend[],
  locked: readonly LockedRow[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const reused = new Set(locked.flatMap(({ threadId, erasedAtMs }) => (erasedAtMs === null ? [] : [threadId])))
  const erased = new Map<string, Set<string>>()
  for (const { threadId, messages } of appends) {
    if (!reused.has(threadId)) continue
    const ids = asArray(messages.map(({ input: { id } }) => id))
    const rows = await tx<{ id: string }[]>`
      select id from heddle.erased_messages where target_id = ${threadId} and id = any(${ids}::uuid[])`
    if (rows.length > 0) erased.set(threadId, new Set([...(erased.get(threadId) ?? []), ...rows.map(({ id }) => id)]))
  }
  return erased
}

/**
 * The source ids of messages of the batch that were erased one by one. Read only for threads with such
 * messages, which are few.
 */
async function findErasedSources(
  tx: Tx,
  appends: readonly NamedAppend[],
  locked: readonly LockedRow[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const concerned = new Set(locked.flatMap(({ threadId, erasedCount }) => (erasedCount > 0 ? [threadId] : [])))
  const erased = new Map<string, Set<string>>()
  for (const { threadId, messages } of appends) {
    const hashes = new Map(
      messages.flatMap(({ input: { sourceId } }) =>
        sourceId === undefined ? [] : [[sourceHash(sourceId), sourceId] as const],
      ),
    )
    if (!concerned.has(threadId) || hashes.size === 0) continue
    const rows = await tx<{ hash: string }[]>`
      select encode(source_hash, 'hex') as hash from heddle.message_erasures
      where thread_id = any(${lineageIds(tx, threadId)})
        and source_hash = any(array(select decode(given, 'hex') from unnest(${asArray(hashes.keys())}::text[]) as given))`
    const sources = rows.flatMap(({ hash }) => hashes.get(hash) ?? [])
    if (rows.length > 0) erased.set(threadId, new Set([...(erased.get(threadId) ?? []), ...sources]))
  }
  return erased
}

async function presentOf(tx: Tx, threadIds: readonly string[]): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from heddle.threads where id = any(${asArray(threadIds)}::uuid[])`
  return rows.map(({ id }) => id)
}

/**
 * The stored messages with the ids of a batch; fingerprints are in hexadecimal digits. Not an async function, which would
 * send the query at once: it must follow the one that locks the threads.
 */
function lookUp(tx: Tx, appends: readonly NamedAppend[]) {
  const given = appends.flatMap(({ threadId, messages }) =>
    messages.map(({ input: { id } }) => ({ id, threadId, code: shortCode(id) })),
  )
  // Lateral, so that each id is one index look-up, whatever size of the table the planner assumes.
  return tx<{ id: string; threadId: string; fingerprint: string }[]>`
    select given.id, given.thread_id, encode(found.fingerprint, 'hex') as fingerprint
    from unnest(
      ${asArray(given.map(({ id }) => id))}::uuid[], ${asArray(given.map(({ threadId }) => threadId))}::uuid[],
      ${asArray(given.map(({ code }) => code))}::text[], ${asArray(given.map(({ code }) => code + AFTER_ALL_LETTERS))}::text[]
    ) as given (id, thread_id, code, code_end)
    cross join lateral (
      select fingerprint from heddle.messages
      where messages.thread_id = given.thread_id and ${byId(tx, tx`messages`)}) as found`
}

/**
 * Locked rows do not move, so they are found by `ctid` without the index. If one is missing nevertheless, the division by
 * zero rolls the transaction back, even if its commit was sent already.
 */
async function advanceHeads(tx: Tx, threads: ReadonlyMap<string, LockedThread>): Promise<void> {
  const heads = [...threads.values()]
  await tx`
    with advanced as (
      update heddle.stage_cursors as cursor
      set head_seq = grown.head_seq, tokens_estimate = grown.tokens_estimate, last_message_at = grown.last_message_at
      from unnest(
        ${asQuotedArray(heads.map(({ place }) => place))}::tid[],
        ${asArray(threads.keys())}::uuid[],
        ${asArray(heads.map(({ headSeq }) => headSeq))}::bigint[],
        ${asArray(heads.map(({ tokensEstimate }) => tokensEstimate))}::bigint[],
        ${asQuotedArray(heads.map(({ latestAtMs }) => (latestAtMs === null ? null : formatTime(latestAtMs))))}::timestamptz[]
      ) as grown (place, thread_id, head_seq, tokens_estimate, last_message_at)
      where cursor.ctid = grown.place
      returning 1
    )
    select 1 / ((select count(*) from advanced) = ${heads.length})::integer`
}
