import type { Tx } from '../connection/connection.js'
import { threadStands } from '../messages/tombstones.js'
import type { Columns } from '../schema/rows.js'
import { byKey } from '../sql/index-order.js'

/** A message that a search found, by its thread and `seq`. */
export interface HitPlace {
  readonly threadId: string
  readonly seq: number
  /** The thread that has its row, of a message that a fork shares. Default: the same. */
  readonly storedIn?: string | undefined
}

/** The places as JSON, for {@link givenPlaces}. */
export function placesJson(places: readonly HitPlace[]): string {
  return JSON.stringify(
    places.map(({ threadId, seq, storedIn = threadId }, place) => ({
      place,
      thread_id: threadId,
      seq,
      stored_in: storedIn,
    })),
  )
}

/** Places that {@link placesJson} wrote, to select from. */
export function givenPlaces(tx: Tx, given: string) {
  return tx`
    json_to_recordset(${given}::text::json) as given (place integer, thread_id uuid, seq bigint, stored_in uuid)`
}

/** The fields of a message that conditions are checked against and that a hit shows. */
export interface HitRow extends Columns<'messages', 'seq' | 'code' | 'sourceId' | 'role' | 'orderedAtMs' | 'sentAtMs'> {
  /** The index in the given places. */
  readonly place: number
  readonly threadName: string
  readonly threadCode: string
  readonly messageId: string
}

export interface HitConditions {
  /** Milliseconds since 1970, inclusive. */
  readonly sinceMs: number | null
  /** Milliseconds since 1970, exclusive. */
  readonly untilMs: number | null
}

/**
 * The messages at some places, in their order, without those that the conditions exclude and those of erased threads.
 */
export async function loadHits(
  tx: Tx,
  { places, conditions }: { places: readonly HitPlace[]; conditions: HitConditions },
): Promise<HitRow[]> {
  const { sinceMs, untilMs } = conditions
  const given = placesJson(places)
  return await tx<HitRow[]>`
    select
      given.place, thread.name as thread_name, thread.code as thread_code, message.id as message_id, given.seq,
      message.code, message.source_id, message.role, message.ordered_at as ordered_at_ms, message.sent_at as sent_at_ms
    from ${givenPlaces(tx, given)}
    cross join lateral (
      select id, name, code from heddle.threads as thread
      where thread.id = given.thread_id and ${threadStands(tx)}
      offset 0) as thread
    cross join lateral (
      select id, code, source_id, role, ordered_at, sent_at, restores_seq from heddle.messages
      where messages.thread_id = given.stored_in and ${byKey(tx, tx`messages.seq`, tx`given.seq`)}) as message
    -- Stores of earlier versions hold words of restored copies, which are marks now: the message itself is found as well.
    where message.restores_seq is null
      and ${sinceMs === null ? tx`true` : tx`message.ordered_at >= ${sinceMs}`}
      and ${untilMs === null ? tx`true` : tx`message.ordered_at < ${untilMs}`}
    order by given.place`
}

/** The text of a message, from which a hit shows a part. */
export interface HitText extends Columns<'messages', 'role' | 'toolName' | 'content'> {
  readonly place: number
  readonly messageId: string
  /** Whether a person said it: a user, or a named speaker in any role. */
  readonly isOfPerson: boolean
  /** The name of the speaker, if the metadata have one. */
  readonly speaker: string | null
  readonly toolCalls: readonly { readonly name: string; readonly arguments: unknown }[]
}

/** The texts of some messages, each cut to a number of characters; places without a message are omitted. */
export async function loadHitTexts(
  tx: Tx,
  { places, charactersMax }: { places: readonly HitPlace[]; charactersMax: number },
): Promise<HitText[]> {
  const given = placesJson(places)
  const rows = await tx<(HitText & Columns<'messages', 'contentEscaped'>)[]>`
    select
      given.place, message.id as message_id, message.role, message.tool_name, message.content_escaped,
      ${isOfPerson(tx)} as is_of_person, ${speakerIn(tx)} as speaker,
      case when message.content_escaped then message.content else left(message.content, ${charactersMax}) end
        as content,
      coalesce(message.tool_calls, '[]'::json) as tool_calls
    from ${givenPlaces(tx, given)}
    cross join lateral (
      select id, role, tool_name, content, content_escaped, tool_calls, metadata, restores_seq from heddle.messages
      where messages.thread_id = given.stored_in and ${byKey(tx, tx`messages.seq`, tx`given.seq`)}) as message
    -- A mark of a restore says nothing itself: the message beside it stands where it was said first.
    where message.restores_seq is null
    order by given.place`
  return rows.map(({ contentEscaped, ...row }) => ({
    ...row,
    content: contentEscaped ? (JSON.parse(row.content) as string).slice(0, charactersMax) : row.content,
  }))
}

/** Whether a person said a message: in chats of several people the metadata name the speaker, as for the word index. */
export function isOfPerson(tx: Tx) {
  return tx`(message.role = 'user' or ${speakerIn(tx)} is not null)`
}

/** The name of the speaker in the metadata of a message. */
export function speakerIn(tx: Tx) {
  return tx`coalesce(message.metadata->>'name', message.metadata->>'speaker', message.metadata->>'author')`
}
