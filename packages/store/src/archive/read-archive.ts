import type { Tx } from '../connection/connection.js'
import { asArray } from '../sql/arrays.js'

/** How many of some messages are archived, and how many of these were never recalled. */
export interface ReadArchive {
  readonly messages: number
  readonly neverRead: number
}

export async function loadReadArchive(
  tx: Tx,
  given: readonly { readonly threadId: string; readonly messageId: string }[],
): Promise<ReadArchive> {
  const [row] = await tx<ReadArchive[]>`
    select count(*)::integer as messages, (count(*) filter (where reads = 0))::integer as never_read
    from unnest(
      ${asArray(given.map(({ threadId }) => threadId))}::uuid[], ${asArray(given.map(({ messageId }) => messageId))}::uuid[]
    ) as given (thread_id, message_id)
    cross join lateral (
      select sum(access_count) as reads from heddle.archive
      where archive.thread_id = given.thread_id and archive.message_id = given.message_id
      having count(*) > 0
    ) as archived`
  return row ?? { messages: 0, neverRead: 0 }
}
