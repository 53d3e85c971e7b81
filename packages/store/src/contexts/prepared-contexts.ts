import type { Tx } from '../connection/connection.js'
import { shareErasureLock, threadStands } from '../messages/tombstones.js'
import { isOwn } from '../sql/own-project.js'
import type { Store } from '../store.js'
import { type Dependence, versionsOf } from './dependence.js'

/**
 * Contexts that are built before they are requested. Such a context is like all others, but its row has the versions of
 * everything that it depends on, and the time at which a message leaves its window. It answers a request as long as these
 * versions are current: after any change it is skipped, so no code has to invalidate it.
 */

/** Contexts that are prepared in a row without being used: a limit on the cost of an agent that stopped. */
const PREPARED_IN_ROW_MAX = 50
/** Requests of one thread, by format, budget and so on, for which the next contexts are prepared. */
const KEYS_PER_THREAD_MAX = 4
/** The deadline of a prepared context, in milliseconds. */
const BUILD_MS_MAX = 60_000
/** The configuration of workers, such as the embedder in a receipt, changes only when they restart, so the age is limited. */
const AGE_MAX = '10 minutes'

/** The fields that a built context stores so that it can answer later requests. */
export interface Prepared extends Omit<Dependence, 'lanes'> {
  readonly key: string
  readonly lane: string
}

/** A request that a prepared context may answer. */
export interface Awaited {
  readonly threadId: string
  readonly key: string
  readonly nowMs: number
}

/**
 * Parts of a `with`: `found` has the result of a prepared context with this key, if nothing that it depends on has changed.
 * From then on it counts as requested: it is listed, and more may be prepared.
 */
export function findPrepared(tx: Tx, { threadId, key, nowMs }: Awaited) {
  return tx`
    found as (
      select newest.id, newest.prepared_count, delivery.result
      from (
        select id, thread_id, lane, versions, holds_until, prepared_count from heddle.contexts
        where thread_id = ${threadId} and prepared_key = ${key} and status = 'built'
          and requested_at > now() - ${AGE_MAX}::interval and ${isOwn(tx, 'contexts')}
        order by requested_at desc
        limit 1
      ) as newest
      join heddle.context_deliveries as delivery on delivery.context_id = newest.id
      where (newest.holds_until is null or newest.holds_until > ${nowMs})
        and newest.versions = ${versionsOf(tx, tx`newest.thread_id`, tx`array[newest.lane]`)}
    ),
    taken as (
      update heddle.contexts set prepared_count = 0
      where id = (select id from found where prepared_count > 0)
    )`
}

/** Stops preparing contexts like this one, because it was of no use. */
export async function stopPreparing(tx: Tx, { id }: { id: string }): Promise<void> {
  await tx`
    update heddle.contexts as alike
    set prepared_key = null
    from heddle.contexts as context
    where context.id = ${id} and alike.thread_id = context.thread_id and alike.prepared_key = context.prepared_key`
}

/**
 * Requests the contexts of a thread that are likely to be needed next.
 *
 * @param add queues the build of a context; if that fails, the reconciler finds the request
 */
export async function prepareContexts(
  store: Pick<Store, 'inProject'>,
  { projectId, threadId }: { projectId: string; threadId: string },
  add: (job: { projectId: string; contextId: string }) => Promise<void>,
): Promise<void> {
  // Of most threads nothing is prepared: a read alone waits for no commit.
  const outdated = await store.inProject(projectId, (tx) => findOutdated(tx, { threadId }), { snapshot: true })
  if (outdated.length === 0) return
  const ids = await store.inProject(projectId, (tx) => orderPrepared(tx, { threadId }))
  await Promise.all(ids.map((contextId) => add({ projectId, contextId })))
}

/** The requests whose prepared contexts are no longer current. */
async function findOutdated(tx: Tx, { threadId }: { threadId: string }): Promise<{ readonly key: string }[]> {
  return await tx<{ key: string }[]>`
    select newest.prepared_key as key
    from (
      select distinct on (prepared_key) thread_id, prepared_key, prepared_count, lane, versions from heddle.contexts
      where thread_id = ${threadId} and prepared_key is not null
      order by prepared_key, requested_at desc
    ) as newest
    where newest.prepared_count < ${PREPARED_IN_ROW_MAX}
      and newest.versions is distinct from ${versionsOf(tx, tx`newest.thread_id`, tx`array[newest.lane]`)}
    limit ${KEYS_PER_THREAD_MAX}`
}

/**
 * Requests the contexts that are likely to be needed next: those of earlier requests with `prebuild` whose results are no
 * longer current. The bytes of earlier prepared contexts are removed; a later read rebuilds them.
 *
 * @returns ids of contexts to build
 */
async function orderPrepared(tx: Tx, { threadId }: { threadId: string }): Promise<string[]> {
  const outdated = await findOutdated(tx, { threadId })
  if (outdated.length === 0) return []
  // Each row has its versions from the start, so it is not requested again while it is built.
  const ordered: string[] = []
  await shareErasureLock(tx)
  for (const { key } of outdated) {
    await tx`
      delete from heddle.context_deliveries
      where context_id in (
        select id from heddle.contexts
        where thread_id = ${threadId} and prepared_key = ${key} and prepared_count > 0
          and requested_at > now() - ${AGE_MAX}::interval)`
    const rows = await tx<{ id: string }[]>`
      insert into heddle.contexts (
        id, thread_id, status, request, deadline_at, prepared_key, prepared_count, lane, versions)
      select
        gen_random_uuid(), thread_id, 'requested', request, clock_timestamp() + ${`${BUILD_MS_MAX} ms`}::interval,
        prepared_key, prepared_count + 1, lane, ${versionsOf(tx, tx`contexts.thread_id`, tx`array[contexts.lane]`)}
      from heddle.contexts
      where thread_id = ${threadId} and prepared_key = ${key}
        and exists (select from heddle.threads as thread where thread.id = ${threadId} and ${threadStands(tx)})
      order by requested_at desc
      limit 1
      returning id`
    ordered.push(...rows.map(({ id }) => id))
  }
  return ordered
}
