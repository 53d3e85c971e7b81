import type { StageName } from '@heddle/contracts'
import type { Tx } from '../../connection/connection.js'
import { asArray } from '../../sql/arrays.js'
import { toStorable } from '../../sql/text.js'
import { ROWS_PER_STEP } from '../erasure-step.js'
import type { MessageTaker } from './message-step.js'
import { pagesOf, TEXTS_PER_PAGE, textHash } from './message-texts.js'

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

/** Whether a job of a context, which may have any shape, has one of some texts as its new message. */
export function asksFor(payload: unknown, hashes: ReadonlySet<string>): boolean {
  const { asked } = (payload ?? {}) as { asked?: { request?: { message?: unknown } | null } | null }
  const message = asked?.request?.message
  return typeof message === 'string' && hashes.has(textHash(message))
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

/**
 * A job without some messages, which may have any shape.
 *
 * @returns the job itself if it has none of them; null if it has no others
 */
export function withoutErased(payload: unknown, ids: ReadonlySet<string>): unknown {
  if (payload === null || typeof payload !== 'object' || !('messages' in payload)) return payload
  const { messages } = payload
  if (!Array.isArray(messages)) return payload
  const rest = messages.filter((placed: { message?: { id?: unknown } } | null) => {
    const id = placed?.message?.id
    return typeof id !== 'string' || !ids.has(id.toLowerCase())
  })
  if (rest.length === messages.length) return payload
  return rest.length === 0 ? null : { ...payload, messages: rest }
}
