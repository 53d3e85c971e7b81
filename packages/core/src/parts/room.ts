import { limits } from '@heddle/contracts'
import type { Message } from '../conversation/message.js'

/**
 * The messages whose parts are more than one request to a provider takes, by their bytes or by their number: the newest are
 * delivered as far as there is room, and lines name the others. It is decided by message, so that what belongs together stays.
 *
 * @param messages that show their parts, in their order
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
