import { type EventTopic, type HeddleEvent, notFound } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import { findTombstones, shareErasureLock } from '../messages/tombstones.js'
import { inEachDatabase } from '../placement/databases.js'
import { asArray } from '../sql/arrays.js'
import type { Store } from '../store.js'

export interface NewEvent {
  readonly topic: EventTopic
  readonly threadId?: string | null
  /** The subject of the event: a context, a snapshot, a context state. */
  readonly subjectId?: string | null
  readonly headSeq?: number | null
}

/** A subscriber that reconnects after so many events of its project, or fewer, gets each of them. */
export const EVENTS_KEPT_WHOLE = 500

/**
 * Adds events to a project's log. Their numbers are assigned under the project's row lock, which is held until the commit, so a
 * reader at a number has missed none before it. So append events last in a transaction, or in one of their own. Events of
 * erased threads are left out, and so are repeated ones of a context or a snapshot. Of
 * the events `message.stored` of a thread, the log keeps the last, and those among the last {@link EVENTS_KEPT_WHOLE} of the
 * project.
 *
 * @returns the added events; none for an unknown project
 */
export async function appendEvents(
  tx: Tx,
  { projectId, events }: { projectId: string; events: readonly NewEvent[] },
): Promise<HeddleEvent[]> {
  if (events.length === 0) return []
  const rows = events.map((event, index) => ({
    place: index + 1,
    topic: event.topic,
    thread_id: event.threadId,
    subject_id: event.subjectId,
    head_seq: event.headSeq,
  }))
  const [, appended] = await Promise.all([
    shareErasureLock(tx),
    tx<HeddleEvent[]>`
      with kept as (
        select topic, thread_id, subject_id, head_seq, row_number() over (order by event.place) as place
        from json_to_recordset(${JSON.stringify(rows)}::text::json) as event (
          place bigint, topic text, thread_id uuid, subject_id uuid, head_seq bigint)
        where not exists (
          select from heddle.tombstones where tombstones.target_id in (event.thread_id, ${projectId}::uuid))
          and not exists (
            -- The offset has each looked up by its subject: joined with the log, all of the log would be read.
            select from heddle.events as told where told.subject_id = event.subject_id and told.topic = event.topic
            offset 0)
      ),
      project as (
        update heddle.projects set event_number = event_number + (select count(*) from kept)
        where project_id = ${projectId}
        returning event_number - (select count(*) from kept) as before
      ),
      -- A thread's next event includes the one before. Of those beyond the last ones, the earlier events of the threads that grow
      -- are looked up by their thread, and those that are beyond them from now on by their numbers: both by an index, whatever
      -- the planner knows of a log that was empty a moment ago.
      beyond as (
        select project.before - ${EVENTS_KEPT_WHOLE}::bigint as before, (select count(*) from kept) as count from project
      ),
      superseded as (
        delete from heddle.events
        where project_id = ${projectId}::uuid and number = any(array(
          select earlier.number from kept cross join beyond
          cross join lateral (
            select number from heddle.events as stored
            where stored.topic = 'message.stored' and stored.thread_id = kept.thread_id
              and stored.head_seq <= kept.head_seq and stored.number <= beyond.before
            order by stored.thread_id
            offset 0) as earlier
          where kept.topic = 'message.stored'
          union all
          select leaving.number from beyond
          cross join lateral (
            select number, thread_id, head_seq, topic from heddle.events as stored
            where stored.project_id = ${projectId}::uuid and stored.number > beyond.before
              and stored.number <= beyond.before + beyond.count
            order by stored.number
            offset 0) as leaving
          where leaving.topic = 'message.stored' and exists (
            select from heddle.events as later
            where later.topic = 'message.stored' and later.thread_id = leaving.thread_id
              and later.number > leaving.number and later.head_seq >= leaving.head_seq
            offset 0)))
      )
      insert into heddle.events (number, topic, thread_id, subject_id, head_seq)
      select project.before + kept.place, kept.topic, kept.thread_id, kept.subject_id, kept.head_seq
      from project
      cross join kept
      order by kept.place
      returning project_id, number, topic, thread_id, subject_id, head_seq`,
  ])
  return [...appended]
}

/**
 * Adds events in a transaction of their own with one round trip. With two, the project's row would stay locked until this
 * process has read the answer and sent the commit: with a few busy processes, all others would wait for that most of the time.
 *
 * @throws PermanentError `NOT_FOUND` without the project
 */
export async function storeEvents(
  store: Store,
  of: { projectId: string; events: readonly NewEvent[] },
): Promise<HeddleEvent[]> {
  const { projectId, events } = of
  if (events.length === 0) return []
  const appended = await store.inProject(projectId, (tx) => appendEvents(tx, of), { together: true })
  if (appended.length === 0 && !(await store.inProject(projectId, (tx) => wasProjectThere(tx, projectId)))) {
    throw notFound('project', projectId)
  }
  return appended
}

/**
 * Appends events that other processes may be appending as well. It locks the project's row first, so that `appendEvents` sees
 * what they committed and adds no second event for the same context or snapshot.
 */
export async function appendUnpublishedEvents(
  tx: Tx,
  of: { projectId: string; events: readonly NewEvent[] },
): Promise<HeddleEvent[]> {
  // A separate statement: the next one must take its snapshot after the lock was acquired.
  await tx`select from heddle.projects where project_id = ${of.projectId} for update`
  return await appendEvents(tx, of)
}

async function wasProjectThere(tx: Tx, projectId: string): Promise<boolean> {
  const [project] = await tx`select from heddle.projects where project_id = ${projectId}`
  return project !== undefined || (await findTombstones(tx, [projectId])).length > 0
}

/** An event to append, with its project. */
export interface UnpublishedEvent extends NewEvent {
  readonly projectId: string
}

/** Missing events of contexts and snapshots, of all projects, requested after one time and built before another. */
export async function findUnpublishedEvents(
  store: Store,
  { limit, askedAfterMs, madeBeforeMs }: { limit: number; askedAfterMs: number; madeBeforeMs: number },
): Promise<UnpublishedEvent[]> {
  return await inEachDatabase(
    store,
    async (tx) =>
      await tx<UnpublishedEvent[]>`
      select project_id, topic, thread_id, subject_id
      from heddle.untold_events(
        ${limit}::integer, ${askedAfterMs}::timestamptz, ${madeBeforeMs}::timestamptz)`,
  )
}

/** The events after a number, oldest first: where a subscriber resumes. */
export async function loadEventsAfter(
  tx: Tx,
  { projectId, number, limit }: { projectId: string; number: number; limit: number },
): Promise<HeddleEvent[]> {
  return await tx<HeddleEvent[]>`
    select project_id, number, topic, thread_id, subject_id, head_seq
    from heddle.events
    where project_id = ${projectId} and number > ${number}
    order by number
    limit ${limit}`
}

/** The numbers of those events that belong to an agent: to one of its threads, or to one of its snapshots. */
export async function eventsOfAgent(
  tx: Tx,
  { agentId, events }: { agentId: string; events: readonly HeddleEvent[] },
): Promise<Set<number>> {
  const threadIds = new Set(events.flatMap(({ threadId }) => threadId ?? []))
  const subjectIds = new Set(
    events.flatMap(({ topic, subjectId }) => (topic === 'snapshot.saved' ? (subjectId ?? []) : [])),
  )
  const rows = await tx<{ id: string }[]>`
    select id from heddle.threads where id = any(${asArray(threadIds)}::uuid[]) and agent_id = ${agentId}
    union all
    select id from heddle.snapshots where id = any(${asArray(subjectIds)}::uuid[]) and agent_id = ${agentId}`
  const own = new Set(rows.map(({ id }) => id))
  const isOwn = ({ threadId, subjectId }: HeddleEvent) => own.has(threadId ?? subjectId ?? '')
  return new Set(events.filter(isOwn).map(({ number }) => number))
}

/** The names of threads and agents of events, by the number of the event. Erased ones have no number. */
export async function namesOfEvents(
  tx: Tx,
  events: readonly HeddleEvent[],
): Promise<ReadonlyMap<number, { thread: string | null; agent: string }>> {
  const threadIds = new Set(events.flatMap(({ threadId }) => threadId ?? []))
  const subjectIds = new Set(
    events.flatMap(({ topic, subjectId }) => (topic === 'snapshot.saved' ? (subjectId ?? []) : [])),
  )
  const rows = await tx<{ id: string; thread: string | null; agent: string }[]>`
    select threads.id, threads.name as thread, agents.name as agent
    from heddle.threads join heddle.agents on agents.id = threads.agent_id
    where threads.id = any(${asArray(threadIds)}::uuid[])
    union all
    select snapshots.id, null, agents.name
    from heddle.snapshots join heddle.agents on agents.id = snapshots.agent_id
    where snapshots.id = any(${asArray(subjectIds)}::uuid[])`
  const found = new Map(rows.map(({ id, thread, agent }) => [id, { thread, agent }]))
  return new Map(
    events.flatMap(({ number, threadId, subjectId }) => {
      const names = found.get(threadId ?? subjectId ?? '')
      return names === undefined ? [] : [[number, names] as const]
    }),
  )
}

/** The number of the project's latest event; 0 without one, and for an unknown project. */
export async function latestEventNumber(tx: Tx, { projectId }: { projectId: string }): Promise<number> {
  const [project] = await tx<{ number: number }[]>`
    select event_number as number from heddle.projects where project_id = ${projectId}`
  return project?.number ?? 0
}
