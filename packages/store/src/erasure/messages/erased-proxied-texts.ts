import { asArray } from '../../sql/arrays.js'
import type { MessageTaker } from './message-step.js'

/**
 * Removes the texts that a proxy sent in place of the messages: stubs of their results, and all covers of the thread, which may
 * repeat any of its messages.
 */
export const takeProxiedTexts: MessageTaker = async (tx, { threadId, ids, begunAtMs }) => {
  const { count } = await tx`
    delete from heddle.proxied_texts
    where thread_id = ${threadId}
      and (message_id = any(${asArray(ids)}::uuid[])
        or (kind = 'cover' and created_at <= ${begunAtMs + 1}::timestamptz))`
  return { proxied_texts: count }
}
