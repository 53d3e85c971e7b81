import { limits } from '@heddle/contracts'
import type { Message } from '../conversation/message.js'

/**
 * The messages whose parts exceed what one provider request accepts, by bytes or by number: the newest parts are
 * delivered as far as they fit, and lines name the others. Decided per message, so that the parts of a message stay
 * together.
 *
 * @param messages that show their parts, in order
 */
export function withoutRoom(messages: readonly Message[]): ReadonlySet<string> {
  const left = new Set<string>()
  let bytes = 0
  let count = 0
  for (const { id, parts = [] } of messages.toReversed()) {
    if (parts.length === 0) continue
    bytes += parts.reduce((sum, part) => sum + (part.bytes ?? 0), 0)
    count += parts.length
    if (bytes > limits.contextPartBytesMax || count > limits.contextPartsMax) left.add(id)
  }
  return left
}
