import { dropUnaskedLanes } from '../compaction/kept-lanes.js'
import type { Tx } from '../connection/connection.js'
import { removeLonelyLines } from '../contexts/stored-contexts.js'
import { inEachDatabase } from '../placement/databases.js'
import { removeLonelyViews } from '../proxied/proxied-views.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'
import type { Store } from '../store.js'

/** Kinds of data with a retention. Messages have none: only an erasure removes them. */
export const retainedKinds = [
  'delivered',
  'contexts',
  'contextItems',
  'events',
  'keptLanes',
  'voidStates',
  'summaryCalls',
  'proxiedRequests',
  'proxiedConversations',
  'deadLetters',
  'tombstones',
] as const
export type RetainedKind = (typeof retainedKinds)[number]

export interface Expiry {
  readonly kind: RetainedKind
  /** Older rows are removed; in milliseconds since 1970. */
  readonly beforeMs: number
  /** Rows of one call; for events, rows of each project. */
  readonly limit: number
}

/**
 * Removes some rows of a kind that are older than a time, oldest first. The age counts from: the delivery of bytes, whose
 * contexts stay and can be rebuilt; the request of a context; the build of a context for the statistics of its items; the
 * last request of a lane; the moment a compaction became void; a call for a summary; a relayed request; the
 * last request of a relayed conversation; the redrive of a
 * dead letter; the end of an erasure for its tombstone. Rows that another process is removing are skipped, so any number of
 * processes may do this at once.
 *
 * @returns their number; 0 if none is left
 */
export async function removeExpired(store: Store, { kind, beforeMs, limit }: Expiry): Promise<number> {
  if (kind === 'events') return await removeExpiredEvents(store, beforeMs, limit)
  const { find, foundMax = limit, remove } = kinds[kind]
  const found = await inEachDatabase(
    store,
    async (tx) =>
      await tx<{ projectId: string; id: string }[]>`
        select project_id, id from heddle.${tx(find)}(${Math.min(limit, foundMax)}::integer, ${beforeMs}::timestamptz)`,
  )
  let removed = 0
  for (const projectId of new Set(found.map((row) => row.projectId))) {
    const ids = found.filter((row) => row.projectId === projectId).map(({ id }) => id)
    removed += await store.inProject(projectId, (tx) => remove(tx, asArray(ids), { beforeMs, limit }))
  }
  return removed
}

interface KindOfRows {
  /** The SQL function that finds the rows in all projects. */
  readonly find: string
  /** The most rows that one call finds, if a found row stands for many that are removed. */
  readonly foundMax?: number
  /** Removes the rows of one project, if they still match. */
  remove(tx: Tx, ids: string, expiry: Pick<Expiry, 'beforeMs' | 'limit'>): Promise<number>
}

const kinds: Readonly<Record<Exclude<RetainedKind, 'events'>, KindOfRows>> = {
  delivered: {
    find: 'expired_deliveries',
    async remove(tx, ids) {
      const { count } = await tx`
        delete from heddle.context_deliveries
        where context_id = any(array(
          select context_id from heddle.context_deliveries where context_id = any(${ids}::uuid[])
          for update skip locked))`
      return count
    },
  },
  contexts: {
    find: 'expired_contexts',
    async remove(tx, ids) {
      const removed = await tx<Columns<'contexts', 'id' | 'threadId'>[]>`
        delete from heddle.contexts
        where id = any(array(
          select id from heddle.contexts
          where id = any(${ids}::uuid[]) and status <> 'requested'
          for update skip locked))
        returning id, thread_id`
      await removeLonelyLines(tx, removed)
      return removed.length
    },
  },
  contextItems: {
    find: 'expired_context_items',
    // Those of contexts that a message answers stay as long as the message.
    remove: (tx, ids) => removeRows(tx, 'context_items', 'context_id', ids, tx`answered_seq is null`),
  },
  keptLanes: {
    find: 'expired_kept_lanes',
    // Threads, of which each may have thousands of states.
    foundMax: 50,
    remove: (tx, threadIds, { beforeMs, limit }) => dropUnaskedLanes(tx, { threadIds, beforeMs, statesMax: limit }),
  },
  voidStates: {
    find: 'expired_void_states',
    async remove(tx, ids) {
      const held = await tx<Columns<'contextStates', 'id' | 'threadId'>[]>`
        select id, thread_id from heddle.context_states
        where id = any(${ids}::uuid[]) and status = 'void'
        for update skip locked`
      const states = asArray(held.map(({ id }) => id))
      const threads = asArray(new Set(held.map(({ threadId }) => threadId)))
      const ofThem = tx`thread_id = any(${threads}::uuid[]) and state_id = any(${states}::uuid[])`
      const [, , { count }] = await Promise.all([
        tx`delete from heddle.prunings where ${ofThem}`,
        tx`delete from heddle.summary_leaves where ${ofThem}`,
        tx`delete from heddle.context_states where id = any(${states}::uuid[])`,
      ])
      return count
    },
  },
  summaryCalls: {
    find: 'expired_summary_calls',
    remove: (tx, ids) => removeRows(tx, 'summary_calls', 'id', ids),
  },
  proxiedRequests: {
    find: 'expired_proxied_requests',
    async remove(tx, ids) {
      const removed = await tx<{ threadId: string }[]>`
        delete from heddle.proxied_requests
        where id = any(array(
          select id from heddle.proxied_requests where id = any(${ids}::uuid[]) for update skip locked))
        returning thread_id`
      // Later requests of a thread are based on what was recorded of earlier ones.
      await removeLonelyViews(
        tx,
        removed.map(({ threadId }) => threadId),
      )
      return removed.length
    },
  },
  proxiedConversations: {
    find: 'expired_proxied_conversations',
    remove: (tx, ids, { beforeMs }) =>
      removeRows(tx, 'proxied_conversations', 'thread_id', ids, tx`used_at < ${beforeMs}`),
  },
  deadLetters: {
    find: 'expired_dead_letters',
    remove: (tx, ids) => removeRows(tx, 'dead_letters', 'id', ids, tx`redriven_at is not null`),
  },
  tombstones: {
    find: 'expired_tombstones',
    async remove(tx, ids) {
      // Some at a time: a tombstone is removed once it has no ids of messages any more.
      const { count } = await tx`
        delete from heddle.erased_messages
        where (target_id, id) in (
          select erased.target_id, erased.id
          from heddle.tombstones as tombstone
          join heddle.erased_messages as erased on erased.target_id = coalesce(tombstone.freed_id, tombstone.target_id)
          where tombstone.target_id = any(${ids}::uuid[]) and tombstone.finished_at is not null
            and not exists (
              select from heddle.tombstones as later
              where coalesce(later.freed_id, later.target_id) = erased.target_id
                and later.created_at > tombstone.created_at)
          limit ${ERASED_IDS_PER_STEP})`
      if (count === ERASED_IDS_PER_STEP) return count
      return await removeRows(tx, 'tombstones', 'target_id', ids, tx`finished_at is not null`)
    },
  },
}

const ERASED_IDS_PER_STEP = 10_000

/** Removes rows of a table by their keys, except those that another process is removing or that no longer match. */
async function removeRows(tx: Tx, table: string, key: string, ids: string, stillIs = tx`true`): Promise<number> {
  const { count } = await tx`
    delete from heddle.${tx(table)}
    where ${tx(key)} = any(array(
      select ${tx(key)} from heddle.${tx(table)} where ${tx(key)} = any(${ids}::uuid[]) and ${stillIs} for update skip locked))`
  return count
}

/** Projects per call. */
const PROJECTS_MAX = 100

/** The numbers of a project's log increase with time, so its oldest page is read, and no index by time is needed. */
async function removeExpiredEvents(store: Store, beforeMs: number, limit: number): Promise<number> {
  const projects = await inEachDatabase(
    store,
    async (tx) =>
      await tx<{ projectId: string }[]>`
        select project_id
        from heddle.projects_with_expired_events(${PROJECTS_MAX}::integer, ${beforeMs}::timestamptz)`,
  )
  let removed = 0
  for (const { projectId } of projects) {
    const { count } = await store.inProject(
      projectId,
      (tx) => tx`
        delete from heddle.events
        where project_id = ${projectId} and created_at < ${beforeMs} and number = any(array(
          select number from heddle.events
          where project_id = ${projectId}
          order by number
          limit ${limit}
          for update skip locked))`,
    )
    removed += count
  }
  return removed
}
