import { overheadTokens } from '../compaction/costs.js'
import type { CompactionState } from '../compaction/state.js'
import { costUnder } from '../compaction/state-costs.js'
import { isElidable } from '../conversation/calls.js'
import type { Conversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import { elidedArguments, elisionMark } from './message-outcomes.js'

/** Minimum tokens of an elided text: its beginning, its end and its reference. */
export const ELIDED_TOKENS_MIN = 48

/** How sizes are measured. */
export interface Measure {
  readonly count: (text: string) => number
  readonly reference: (message: Message) => string
}

/** Caps on the texts of messages, by id; see `FateOptions`. */
export type Caps = ReadonlyMap<string, number>

/**
 * Caps on the sizes of messages so that together they take at most `roomTokens`: the longest are reduced to one common
 * size, the others stay unchanged. System messages and the user's latest request are capped only if nothing else can be
 * shortened; pinned messages never.
 *
 * @returns the minimum tokens needed, if even the smallest caps are not enough
 */
export function capSizes(
  conversation: Conversation,
  state: CompactionState | null,
  leftOut: ReadonlyMap<string, string>,
  roomTokens: number,
  measure: Measure,
): { caps: Caps } | { neededTokens: number } {
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
  const whole = (messages: readonly Message[]) => messages.reduce((sum, { tokens }) => sum + tokens, 0)
  const room = roomTokens - fixed
  if (whole(ordinary) + whole(spared) <= room) return { caps: new Map() }

  const shapes = new Map([...ordinary, ...spared].map((message) => [message, shapeOf(message, measure)]))
  const capped = (message: Message, cap: number) => cappedSize(message, shapes.get(message), cap)
  const size = (messages: readonly Message[], cap: number) =>
    messages.reduce((sum, message) => sum + capped(message, cap), 0)
  const smallest = size(ordinary, 0) + size(spared, 0)
  if (smallest > room) return { neededTokens: fixed + smallest }
  const spare = size(ordinary, 0) + whole(spared) <= room
  const shortened = spare ? ordinary : [...ordinary, ...spared]
  const cap = largestCap(shortened, spare ? room - whole(spared) : room, size)
  return { caps: new Map(shortened.flatMap((message) => textCap(message, shapes.get(message), cap))) }
}

/** The caps that make messages as small as possible. */
export function smallestCaps(messages: readonly Message[], measure: Measure): Caps {
  return new Map(messages.flatMap((message) => textCap(message, shapeOf(message, measure), 0)))
}

/** The parts of a message's size that change when it is elided; null if eliding it saves nothing. */
type Shape = { readonly besideTokens: number; readonly textTokensMin: number } | null

/** @returns the tokens beside the text of an elided message (its calls, its reasoning), and the minimum of its text */
function shapeOf(message: Message, { count, reference }: Measure): Shape {
  if (message.tokens <= ELIDED_TOKENS_MIN) return null
  const name = reference(message)
  const calls = message.toolCalls.reduce((sum, call, index) => {
    const args = isElidable(call) ? elidedArguments(name, index) : call.arguments
    return sum + count(call.name) + count(typeof args === 'string' ? args : JSON.stringify(args))
  }, 0)
  const besideTokens = calls + message.reasoningTokens
  const textTokensMin = Math.max(ELIDED_TOKENS_MIN, count(elisionMark(message, name)))
  return besideTokens + textTokensMin < message.tokens ? { besideTokens, textTokensMin } : null
}

function cappedSize(message: Message, shape: Shape | undefined, cap: number): number {
  if (!shape || message.tokens <= cap) return message.tokens
  return Math.max(shape.besideTokens + shape.textTokensMin, cap)
}

function textCap(message: Message, shape: Shape | undefined, cap: number): [string, number][] {
  if (!shape || message.tokens <= cap) return []
  return [[message.id, Math.max(shape.textTokensMin, cap - shape.besideTokens)]]
}

function largestCap(
  messages: readonly Message[],
  room: number,
  size: (messages: readonly Message[], cap: number) => number,
): number {
  let low = 0
  let high = messages.reduce((most, { tokens }) => Math.max(most, tokens), 0)
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (size(messages, middle) <= room) low = middle
    else high = middle - 1
  }
  return low
}
