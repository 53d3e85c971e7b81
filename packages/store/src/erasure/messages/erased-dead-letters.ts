import { toStorable } from '../../sql/text.js'
import type { MessageTaker } from './message-step.js'

/** Removes messages from dead letters of their thread. One that has no other message is deleted. */
export const takeDeadLetters: MessageTaker = async (tx, { threadId, ids }) => {
  const letters = await tx<{ id: string; payload: unknown }[]>`
    select id, payload from heddle.dead_letters where thread_id = ${threadId} and stage = 'ingest' for update`
  let changed = 0
  for (const { id, payload } of letters) {
    const rest = withoutErased(payload, ids)
    if (rest === payload) continue
    changed++
    await (rest === null
      ? tx`delete from heddle.dead_letters where id = ${id}`
      : tx`
          update heddle.dead_letters set payload = ${toStorable(JSON.stringify(rest))}::text::json where id = ${id}`)
  }
  return { dead_letters: changed }
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
