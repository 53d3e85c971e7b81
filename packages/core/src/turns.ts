import type { ToolCall } from '@heddle/contracts'
import type { Message } from './message.js'

/** A call in its message, and the message that answers it. */
export interface ToolPair {
  readonly call: ToolCall
  readonly callMessage: Message
  /** Index of the call in its message. */
  readonly callIndex: number
  readonly result: Message | null
}

export interface ToolPairs {
  /** Every call, by the id of its message and its index there. */
  readonly byCallMessage: ReadonlyMap<string, readonly ToolPair[]>
  /** The pair that a result belongs to, by the id of the result's message. Results without a call are missing. */
  readonly byResult: ReadonlyMap<string, ToolPair>
}

/**
 * Pairs tool calls with their results. Sources reuse call ids within a conversation (tau-bench and SWE-agent do), so a
 * result belongs to the nearest earlier call of its id that is still open. A result that sorts before its call, because a
 * clock ran slow, belongs to the first later call that has no result of its own.
 *
 * @param messages in conversation order
 */
export function pairToolCalls(messages: readonly Message[]): ToolPairs {
  const open = new Map<string, { message: Message; index: number }[]>()
  const results = new Map<string, Message>()
  const early: Message[] = []
  const key = (message: Message, index: number) => `${message.id} ${index}`

  for (const message of messages) {
    for (const [index, call] of message.toolCalls.entries()) {
      const waiting = open.get(call.id)
      if (waiting) waiting.push({ message, index })
      else open.set(call.id, [{ message, index }])
    }
    if (message.role !== 'tool_result' || message.toolCallId === null) continue
    const nearest = open.get(message.toolCallId)?.pop()
    if (nearest) results.set(key(nearest.message, nearest.index), message)
    else early.push(message)
  }
  for (const message of early) {
    const first = open.get(message.toolCallId ?? '')?.shift()
    if (first) results.set(key(first.message, first.index), message)
  }

  const byCallMessage = new Map<string, ToolPair[]>()
  const byResult = new Map<string, ToolPair>()
  for (const callMessage of messages) {
    if (callMessage.toolCalls.length === 0) continue
    const pairs = callMessage.toolCalls.map((call, callIndex) => {
      const pair = { call, callMessage, callIndex, result: results.get(key(callMessage, callIndex)) ?? null }
      if (pair.result) byResult.set(pair.result.id, pair)
      return pair
    })
    byCallMessage.set(callMessage.id, pairs)
  }
  return { byCallMessage, byResult }
}

/**
 * The smallest unit that a cut may not split: one message, or an assistant message with all its parallel calls and all
 * their results, wherever the results came to stand.
 */
export interface Turn {
  /** The message that opens the turn, then its results in the order of the calls. */
  readonly messages: readonly Message[]
}

/**
 * Groups a conversation into turns, in the order of the messages that open them. A result without a call is a turn of its
 * own.
 */
export function groupTurns(messages: readonly Message[], pairs: ToolPairs = pairToolCalls(messages)): Turn[] {
  const turns: Turn[] = []
  for (const message of messages) {
    if (pairs.byResult.has(message.id)) continue
    const results = (pairs.byCallMessage.get(message.id) ?? []).flatMap((pair) => (pair.result ? [pair.result] : []))
    turns.push({ messages: [message, ...results] })
  }
  return turns
}
