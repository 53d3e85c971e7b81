import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'
import { byId, givenId } from '../sql/by-id.js'
import { isSplit } from './archive-content.js'

interface GivenContent extends Columns<'archive', 'threadId' | 'messageId' | 'location'> {
  readonly bytes: Uint8Array
  /** SHA-256 of the bytes, in hexadecimal digits. */
  readonly hash: string
}

/**
 * The contents that are the texts of their messages, byte for byte: a message never changes, so that a copy of its text would
 * only take space. A text of many blocks is not among them, since a few of its lines are read faster from its copy; nor is one
 * that the message has as a JSON escape, nor one that a fork shares, whose message is in another thread.
 *
 * @returns places in the given list
 */
export async function textsOfMessages(tx: Tx, contents: readonly GivenContent[]): Promise<ReadonlySet<number>> {
  const asked = [...contents.entries()].filter(([, { location, bytes }]) => location === '' && !isSplit(bytes))
  if (asked.length === 0) return new Set()
  const rows = await tx<{ place: number }[]>`
    select asked.place
    from unnest(
      ${asArray(asked.map(([place]) => place))}::integer[],
      ${asArray(asked.map(([, { threadId }]) => threadId))}::uuid[],
      ${asArray(asked.map(([, { messageId }]) => messageId))}::uuid[],
      ${asArray(asked.map(([, { hash }]) => hash))}::text[]
    ) as asked (place, thread_id, message_id, hash)
    cross join lateral (
      select message.content, message.content_escaped from ${givenId(tx, tx`asked.message_id`)}
      cross join lateral (
        select content, content_escaped from heddle.messages
        where messages.thread_id = asked.thread_id and ${byId(tx, tx`messages`)}) as message) as stored
    where not stored.content_escaped and sha256(convert_to(stored.content, 'UTF8')) = decode(asked.hash, 'hex')`
  return new Set(rows.map(({ place }) => place))
}
