import type { StageName } from '@heddle/contracts'
import type { Tx } from '../../connection/connection.js'
import { asArray } from '../../sql/arrays.js'
import { toStorable } from '../../sql/text.js'
import { ROWS_PER_STEP } from '../erasure-step.js'
import { asksFor, withoutErased } from './erased-payloads.js'
import type { MessageTaker } from './message-step.js'
import { pagesOf, TEXTS_PER_PAGE } from './message-texts.js'

/** Removes messages from dead letters of their thread. One that has no other message is deleted. */
export const takeDeadLetters: MessageTaker = async (tx, { threadId, ids }) => {
  let changed = 0
  for await (const { id, payload } of lettersOf(tx, threadId, 'ingest')) {
    const rest = withoutErased(payload, ids)
    if (rest === payload) continue
    await (rest === null
      ? tx`delete from heddle.dead_letters where id = ${id}`
      : tx`
          update heddle.dead_letters set payload = ${toStorable(JSON.stringify(rest))}::text::json where id = ${id}`)
    if (++changed >= ROWS_PER_STEP) break
  }
  return { dead_letters: changed }
}

/**
 * Removes dead letters of requests whose new message is the text of a message that is being erased.
 *
 * @param hashes of these texts: see `loadTextHashes`
 * @returns the number of dead letters
 */
export async function dropAskedLetters(tx: Tx, threadId: string, hashes: ReadonlySet<string>): Promise<number> {
  const found: string[] = []
  if (hashes.size === 0) return 0
  for await (const { id, payload } of lettersOf(tx, threadId, 'assemble')) if (asksFor(payload, hashes)) found.push(id)
  if (found.length > 0) await tx`delete from heddle.dead_letters where id = any(${asArray(found)}::uuid[])`
  return found.length
}

/** A page of payloads is in memory at once: each may have megabytes. */
async function* lettersOf(tx: Tx, threadId: string, stage: StageName) {
  const letters = await tx<{ id: string }[]>`
    select id from heddle.dead_letters where thread_id = ${threadId} and stage = ${stage} order by id`
  for (const page of pagesOf(letters, TEXTS_PER_PAGE)) {
    yield* await tx<{ id: string; payload: unknown }[]>`
      select id, payload from heddle.dead_letters
      where id = any(${asArray(page.map(({ id }) => id))}::uuid[])
      order by id
      for update`
  }
}
