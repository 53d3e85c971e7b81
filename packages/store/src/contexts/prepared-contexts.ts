import type { Tx } from '../connection/connection.js'
import { shareErasureLock, threadStands } from '../messages/tombstones.js'
import { isOwn } from '../sql/own-project.js'
import type { Store } from '../store.js'
import { type Dependence, versionsOf } from './dependence.js'

/**
 * Contexts that are built before they are asked for. Such a context is one like all others; besides, its row tells the
 * versions of everything that it was made of and the moment at which its window changes by itself. It answers a request
 * for as long as the versions are those that the store has now: whatever changed, it is passed over, and nobody has to
 * remember to throw it away.
 */

/** Contexts that are prepared in a row without a request that was not answered by one: an agent that went away costs no more. */
const PREPARED_IN_ROW_MAX = 50
/** Requests of one thread, by format, budget and so on, for which the next contexts are prepared. */
const KEYS_PER_THREAD_MAX = 4
/** Time for a prepared context until nobody builds it any more, in milliseconds. */
const BUILD_MS_MAX = 60_000
/** What workers are configured with, such as the embedder that a receipt names, changes only when they start again. */
const AGE_MAX = '10 minutes'

/** What a built context says of itself, so that it can answer later requests. */
export interface Prepared extends Dependence {
  readonly key: string
}

/** A context that may have been prepared. */
export interface Awaited {
  readonly threadId: string
  readonly key: string
  readonly nowMs: number
}

/**
 * Parts of a `with`: `found` has the result of a context that answers a request of this key now, since nothing that it was
 * made of has changed. It counts as asked for from then on: the past shows it, and more may be prepared.
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
        and newest.versions = ${versionsOf(tx, tx`newest.thread_id`, tx`newest.lane`)}
    ),
    taken as (
      update heddle.contexts set prepared_count = 0
      where id = (select id from found where prepared_count > 0)
    )`
}

/** Has no more contexts prepared like this one: that it was, turned out to be of no use. */
export async function stopPreparing(tx: Tx, { id }: { id: string }): Promise<void> {
  await tx`
    update heddle.contexts as alike
    set prepared_key = null
    from heddle.contexts as context
    where context.id = ${id} and alike.thread_id = context.thread_id and alike.prepared_key = context.prepared_key`
}

/**
 * Has the contexts prepared that are likely to be wanted next of a thread.
 *
 * @param add puts the building of a context into its queue; where that fails, the reconciler finds the request
 */
export async function prepareContexts(
  store: Pick<Store, 'inProject'>,
  { projectId, threadId }: { projectId: string; threadId: string },
  add: (job: { projectId: string; contextId: string }) => Promise<void>,
): Promise<void> {
  const ids = await store.inProject(projectId, (tx) => orderPrepared(tx, { threadId }))
  await Promise.all(ids.map((contextId) => add({ projectId, contextId })))
}

/**
 * Asks for the contexts that are likely to be wanted next: those of the requests that asked for it, where what they were
 * answered with does not hold any more. The bytes of what was prepared before go: who took it finds it rebuilt.
 *
 * @returns ids of contexts that are to be built
 */
async function orderPrepared(tx: Tx, { threadId }: { threadId: string }): Promise<string[]> {
  const outdated = await tx<{ key: string }[]>`
    select newest.prepared_key as key
    from (
      select distinct on (prepared_key) thread_id, prepared_key, prepared_count, lane, versions from heddle.contexts
      where thread_id = ${threadId} and prepared_key is not null
      order by prepared_key, requested_at desc
    ) as newest
    where newest.prepared_count < ${PREPARED_IN_ROW_MAX}
      and newest.versions is distinct from ${versionsOf(tx, tx`newest.thread_id`, tx`newest.lane`)}
    limit ${KEYS_PER_THREAD_MAX}`
  if (outdated.length === 0) return []
  // Each says at once which versions it is for: it is not ordered again while it is built.
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
        prepared_key, prepared_count + 1, lane, ${versionsOf(tx, tx`contexts.thread_id`, tx`contexts.lane`)}
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
