import type { StoredPart } from '@heddle/contracts'
import { releasePartContents } from '../messages/part-contents.js'
import { ROWS_PER_STEP, type Taker } from './erasure-step.js'

/**
 * Removes messages of a thread, and the bytes of parts that no other message of the project refers to. Their ids are kept as
 * long as the tombstone, so that the messages are refused if the name is used again.
 */
export const takeMessages: Taker = async (tx, { targetId }) => {
  const removed = await tx<{ parts: StoredPart[] | null }[]>`
    with taken as (
      delete from heddle.messages
      where thread_id = ${targetId} and seq = any(array(
        select seq from heddle.messages where thread_id = ${targetId} limit ${ROWS_PER_STEP}))
      returning id, parts
    ),
    noted as (
      insert into heddle.erased_messages (target_id, id) select ${targetId}, id from taken on conflict do nothing
    )
    select parts from taken`
  const times = new Map<string, number>()
  for (const { sha256 } of removed.flatMap(({ parts }) => parts ?? [])) {
    if (sha256 !== undefined) times.set(sha256, (times.get(sha256) ?? 0) + 1)
  }
  return { messages: removed.length, part_contents: await releasePartContents(tx, times) }
}
