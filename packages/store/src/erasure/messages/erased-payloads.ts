import { textHash } from './message-texts.js'

/** Whether a job of a context, which may have any shape, has one of some texts as its new message. */
export function asksFor(payload: unknown, hashes: ReadonlySet<string>): boolean {
  const { asked } = (payload ?? {}) as { asked?: { request?: { message?: unknown } | null } | null }
  const message = asked?.request?.message
  return typeof message === 'string' && hashes.has(textHash(message))
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

/** The ids of the messages of a job, which may have any shape. */
export function idsIn(payload: unknown): string[] {
  if (payload === null || typeof payload !== 'object' || !('messages' in payload)) return []
  const { messages } = payload
  if (!Array.isArray(messages)) return []
  return messages.flatMap((placed: { message?: { id?: unknown } } | null) => {
    const id = placed?.message?.id
    return typeof id === 'string' && UUID.test(id) ? [id.toLowerCase()] : []
  })
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
