import { overheadTokens } from '../compaction/costs.js'
import type { CompactionState } from '../compaction/state.js'
import { costUnder } from '../compaction/state-costs.js'
import type { Conversation } from '../conversation.js'
import type { Message } from '../message.js'

/** A message is never elided below this many tokens: its beginning, its end and its reference. */
export const ELIDED_TOKENS_MIN = 48

/**
 * Caps on the sizes of messages so that together they take at most `roomTokens`: the longest are brought down to one
 * common size, the others stay as they are. System messages and the user's latest request are spared unless nothing else
 * is left to shorten; pinned messages always are.
 *
 * @returns null where even the smallest caps are not enough, with what would be
 */
export function capSizes(
  conversation: Conversation,
  state: CompactionState | null,
  leftOut: ReadonlyMap<string, string>,
  roomTokens: number,
): { caps: ReadonlyMap<string, number> } | { neededTokens: number } {
  const latestRequest = conversation.messages.findLast((message) => message.role === 'user')
  let fixed = 0
  const ordinary: Message[] = []
  const spared: Message[] = []
  for (const message of conversation.messages) {
    if (leftOut.has(message.id)) continue
    const cost = costUnder(message, state)
    if (cost === 0) continue
    if (state?.prunings.has(message.id) || conversation.keptRaw.has(message.id)) fixed += cost
    else {
      fixed += overheadTokens(message)
      ;(message.role === 'system' || message === latestRequest ? spared : ordinary).push(message)
    }
  }
  const size = (messages: readonly Message[], cap: number) =>
    messages.reduce((sum, message) => sum + Math.min(message.tokens, cap), 0)
  const room = roomTokens - fixed
  const whole = Number.MAX_SAFE_INTEGER
  if (size(ordinary, whole) + size(spared, whole) <= room) return { caps: new Map() }

  const smallest = size(ordinary, ELIDED_TOKENS_MIN) + size(spared, ELIDED_TOKENS_MIN)
  if (smallest > room) return { neededTokens: fixed + smallest }
  const spare = size(ordinary, ELIDED_TOKENS_MIN) + size(spared, whole) <= room
  const shortened = spare ? ordinary : [...ordinary, ...spared]
  const roomForShortened = spare ? room - size(spared, whole) : room
  const cap = largestCap(shortened, roomForShortened, size)
  return { caps: new Map(shortened.filter((message) => message.tokens > cap).map((message) => [message.id, cap])) }
}

function largestCap(
  messages: readonly Message[],
  room: number,
  size: (messages: readonly Message[], cap: number) => number,
): number {
  let low = ELIDED_TOKENS_MIN
  let high = Math.max(ELIDED_TOKENS_MIN, ...messages.map((message) => message.tokens))
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (size(messages, middle) <= room) low = middle
    else high = middle - 1
  }
  return low
}
