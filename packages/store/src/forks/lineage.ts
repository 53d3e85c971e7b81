import { LRUCache } from 'lru-cache'
import type { PendingQuery, Row } from 'postgres'
import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'
import { byId } from '../sql/by-id.js'
import { byKey } from '../sql/index-order.js'

/*
 * The messages of a fork are in several threads: those that it shares with its origins are rows of these, up to a number each;
 * its own follow. Queries select from `messagesOf`, which is the table itself for every other thread: the same plans, and no
 * more statements.
 *
 * Whether a thread is a fork never changes while its id exists (`forkThread` refuses ids that existed before), so that a process
 * remembers it. A statement about a thread
 * that is not remembered has a part for each possible origin, and finds these by itself.
 */

/** A run of messages that a fork shares: rows of another thread, from behind a number up to another one. */
export type SharedRun = Columns<'threadOrigins', 'originId' | 'afterSeq' | 'toSeq'>

/** Runs that a fork has at most: each is one more part of every query of its messages. */
export const SHARED_RUNS_MAX = 8

/** Threads whose lineage a process remembers. */
const REMEMBERED_MAX = 100_000

/** The shared runs of threads, by id; empty for a thread that is no fork. */
export type Lineages = LRUCache<string, readonly SharedRun[]>

export function newLineages(): Lineages {
  return new LRUCache({ max: REMEMBERED_MAX })
}

export interface Known {
  readonly ofPool: Lineages
  /** Learnt in the transaction, which may create the thread and roll back: passed on after its commit. */
  readonly learnt: Map<string, readonly SharedRun[]>
}

/** A property of a transaction, so that a proxy of it has it, too. */
export const LINEAGES = Symbol('lineages')

function knownTo(tx: Tx): Known | undefined {
  return Reflect.get(tx, LINEAGES) as Known | undefined
}

/** The lineages that a transaction knows: its value of {@link LINEAGES}. */
export function knownLineages(ofPool: Lineages): Known {
  return { ofPool, learnt: new Map() }
}

/** Passes on what a transaction has learnt, after its commit. */
export function rememberLineages({ ofPool, learnt }: Known): void {
  for (const [threadId, runs] of learnt) ofPool.set(threadId, runs)
}

/** Remembers what a query of a thread returned besides: see {@link sharedRunsOf}. */
export function noteLineage(tx: Tx, threadId: string, runs: readonly SharedRun[]): void {
  knownTo(tx)?.learnt.set(threadId, runs)
}

function runsKnown(tx: Tx, threadId: string): readonly SharedRun[] | undefined {
  const lineages = knownTo(tx)
  return lineages?.learnt.get(threadId) ?? lineages?.ofPool.get(threadId)
}

/** The shared runs of a thread as JSON, for queries that read the cursor of a thread anyway. `cursor` is its alias. */
export function sharedRunsOf(tx: Tx) {
  return tx`
    case when cursor.shared_seq = 0 then '[]'::json else (
      select json_agg(
        json_build_object('originId', origin_id, 'afterSeq', after_seq, 'toSeq', to_seq) order by place)
      from heddle.thread_origins where thread_origins.thread_id = cursor.thread_id) end`
}

/** The shared runs of a thread, in the order of their numbers; empty if it is no fork. */
export async function loadSharedRuns(tx: Tx, threadId: string): Promise<readonly SharedRun[]> {
  return (await findSharedRuns(tx, threadId)) ?? []
}

/** The same; null for a thread that does not exist, and therefore has no messages. */
export async function findSharedRuns(tx: Tx, threadId: string): Promise<readonly SharedRun[] | null> {
  const remembered = runsKnown(tx, threadId)
  if (remembered !== undefined) return remembered
  const [found] = await tx<{ runs: SharedRun[] }[]>`
    select ${sharedRunsOf(tx)} as runs from heddle.stage_cursors as cursor where cursor.thread_id = ${threadId}`
  if (found === undefined) return null
  noteLineage(tx, threadId, found.runs)
  return found.runs
}

/**
 * All rows of a thread's messages, those that a fork shares included, for `from ${messagesOf(tx, threadId)} as message`. A row
 * has the `thread_id` of the thread that it is stored in.
 */
export function messagesOf(tx: Tx, threadId: string) {
  return messagesWith(tx, threadId, tx``)
}

/**
 * The same for a query that reads some rows of many in an order. The server orders the rows of several threads only after it has
 * read all of them, so that the rows of each are limited.
 *
 * @param part all of the query's own conditions, each after `and`, then its order and its limit, of rows of `message`
 */
export function someMessagesOf(tx: Tx, threadId: string, part: PendingQuery<Row[]>) {
  return messagesWith(tx, threadId, part)
}

/** The same for a query of the message with a number, which is then found by its index in each thread: see {@link byKey}. */
export function messageAt(tx: Tx, threadId: string, seq: PendingQuery<Row[]>) {
  return messagesWith(tx, threadId, tx`and ${byKey(tx, tx`message.seq`, seq)}`)
}

/** The same for a query of the message with the id of `given`: see {@link byId}. */
export function messageOf(tx: Tx, threadId: string) {
  return messagesWith(tx, threadId, tx`and ${byId(tx, tx`message`)}`)
}

function messagesWith(tx: Tx, threadId: string, part: PendingQuery<Row[]>) {
  const runs = remembered(tx, threadId)
  if (runs?.length === 0) return tx`(select * from heddle.messages where thread_id = ${threadId})`
  const own = tx`(select * from heddle.messages as message where thread_id = ${threadId} ${part})`
  if (runs === undefined) return tx`(${own} ${joined(tx, unknownRuns(tx, threadId, part))})`
  const shared = runs.map(
    ({ originId, afterSeq, toSeq }) => tx`
      union all (
        select * from heddle.messages as message
        where thread_id = ${originId} and message.seq > ${afterSeq} and message.seq <= ${toSeq} ${part})`,
  )
  return tx`(${own} ${joined(tx, shared)})`
}

/** Token counts of a thread's messages, by the rows of the threads that hold these; a run of counts may end beyond a fork. */
export function tokenCountsOf(tx: Tx, threadId: string) {
  const own = tx`select * from heddle.message_tokens where thread_id = ${threadId}`
  const place = (index: number) => originAt(tx, threadId, index)
  const runs = remembered(tx, threadId)
  const ids = runs?.map(({ originId }) => tx`${originId}::uuid`) ?? places.map((index) => place(index)('origin_id'))
  const others = ids.map((id) => tx`union all select * from heddle.message_tokens where thread_id = ${id}`)
  return tx`(${own} ${joined(tx, others)})`
}

/** Whether a thread is known to share no messages. */
export function isNoFork(tx: Tx, threadId: string): boolean {
  return remembered(tx, threadId)?.length === 0
}

/** The condition that a row of `message` is of a thread, its own or one that it shares. */
export function isStoredFor(tx: Tx, threadId: string) {
  return tx`(message.thread_id = ${threadId} or exists (
    select from heddle.thread_origins as run
    where run.thread_id = ${threadId} and run.origin_id = message.thread_id
      and message.seq > run.after_seq and message.seq <= run.to_seq))`
}

/** The ids of a thread and of all threads whose messages it shares, as an array of Postgres. */
export function lineageIds(tx: Tx, threadId: string) {
  const runs = remembered(tx, threadId)
  if (runs === undefined) {
    return tx`array(
      select ${threadId}::uuid
      union all
      select origin_id from heddle.thread_origins where thread_id = ${threadId})`
  }
  const others = runs.map(({ originId }) => tx`, ${originId}::uuid`)
  return tx`array[${threadId}::uuid ${joined(tx, others)}]`
}

/** The runs of a thread that is remembered; those of another one are read, and remembered for the next statements. */
function remembered(tx: Tx, threadId: string): readonly SharedRun[] | undefined {
  const runs = runsKnown(tx, threadId)
  if (runs === undefined && knownTo(tx) !== undefined) learn(tx, threadId)
  return runs
}

/** Sent at once, together with the statement that is being written. It says nothing about a thread that does not exist yet. */
function learn(tx: Tx, threadId: string): void {
  loadSharedRuns(tx, threadId).catch(() => {})
}

const places = Array.from({ length: SHARED_RUNS_MAX }, (_, index) => index)

/** Subqueries that run once, so that each part is found and ordered by the indexes of one thread, as with constants. */
function unknownRuns(tx: Tx, threadId: string, part: PendingQuery<Row[]>) {
  return places.map((place) => {
    const of = originAt(tx, threadId, place)
    return tx`
      union all (
        select * from heddle.messages as message
        where thread_id = ${of('origin_id')} and message.seq > ${of('after_seq')} and message.seq <= ${of('to_seq')} ${part})`
  })
}

function originAt(tx: Tx, threadId: string, place: number) {
  return (column: 'origin_id' | 'after_seq' | 'to_seq') =>
    tx`(select ${tx(column)} from heddle.thread_origins where thread_id = ${threadId} and place = ${place})`
}

/** Parts of a statement, one after the other: the driver takes an empty list for a value. */
function joined(tx: Tx, parts: readonly PendingQuery<Row[]>[]) {
  return parts.reduce((before, part) => tx`${before} ${part}`, tx``)
}
