import { type EventTopic, type HeddleEvent, notFound } from '@heddle/contracts'
import type { Tx } from './connection.js'

export interface NewEvent {
  readonly topic: EventTopic
  readonly threadId?: string | null
  /** What the event is about: a context, a snapshot, a context state. */
  readonly subjectId?: string | null
  readonly headSeq?: number | null
}

/**
 * Adds events to a project's log. Their numbers are given out under the project's row lock, which holds until the commit:
 * whoever has read up to a number has missed none before it. So append events last in a transaction, or in one of their own.
 *
 * @throws PermanentError `NOT_FOUND` where there is no such project
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
  const appended = await tx<HeddleEvent[]>`
    with project as (
      update heddle.projects set event_number = event_number + ${events.length}
      where project_id = ${projectId}
      returning event_number - ${events.length} as before
    )
    insert into heddle.events (number, topic, thread_id, subject_id, head_seq)
    select project.before + event.place, event.topic, event.thread_id, event.subject_id, event.head_seq
    from project
    cross join json_to_recordset(${JSON.stringify(rows)}::text::json) as event (
      place bigint, topic text, thread_id uuid, subject_id uuid, head_seq bigint)
    order by event.place
    returning project_id, number, topic, thread_id, subject_id, head_seq`
  if (appended.length === 0) throw notFound('project', projectId)
  return [...appended]
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
