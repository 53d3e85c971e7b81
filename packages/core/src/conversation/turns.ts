import type { ToolCall } from '@heddle/contracts'
import type { Message } from './message.js'

/** A call in its message, and the message that answers it. */
export interface ToolPair {
  readonly call: ToolCall
  readonly callMessage: Message
  readonly callIndex: number
  readonly result: Message | null
}

export interface ToolPairs {
  /** Pairs by the id of the call's message; the index is that of the call. */
  readonly byCallMessage: ReadonlyMap<string, readonly ToolPair[]>
  /** The pair of a result, by the id of the result's message. Results without a call are absent. */
  readonly byResult: ReadonlyMap<string, ToolPair>
}

/** Number of messages by which a result may precede its call, after clock skew, and still be paired with it. */
const EARLY_RESULT_MESSAGES_MAX = 64

interface OpenCall {
  readonly message: Message
  readonly index: number
}

/** Consecutive assistant-side messages are one run: the calls of a run are parallel calls. */
export function isAssistantSide(message: Message): boolean {
  return message.role === 'assistant' || message.role === 'tool_use'
}

/**
 * Pairs tool calls with their results. Sources reuse call ids within a conversation (tau-bench and SWE-agent do), so a
 * result belongs to the nearest earlier message with an open call of its id, and to the first such call in it: parallel
 * calls that share an id take their results in order. The next run of the assistant closes all open calls: providers do
 * not accept a later result, so it counts as one without a call. A result that sorts before its call belongs to the
 * first call soon after it that has no other result.
 *
 * @param messages in conversation order
 */
export function pairToolCalls(messages: readonly Message[]): ToolPairs {
  const results = new Map<string, Message>()
  const early = new Map<string, { result: Message; at: number }[]>()
  let open: OpenCall[] = []
  let inRun = false
  const key = ({ message, index }: OpenCall) => `${message.id} ${index}`

  const closeRun = (at: number) => {
    for (const call of open) {
      const waiting = early.get(call.message.toolCalls[call.index]?.id ?? '')
      const found = waiting?.findIndex((entry) => at - entry.at <= EARLY_RESULT_MESSAGES_MAX) ?? -1
      const entry = found >= 0 ? waiting?.splice(found, 1)[0] : undefined
      if (entry) results.set(key(call), entry.result)
    }
    open = []
  }

  for (const [at, message] of messages.entries()) {
    if (isAssistantSide(message)) {
      if (!inRun) closeRun(at)
      inRun = true
      open.push(...message.toolCalls.map((_, index) => ({ message, index })))
      continue
    }
    inRun = false
    if (message.role !== 'tool_result' || message.toolCallId === null) continue
    const isAnswered = (call: OpenCall) => call.message.toolCalls[call.index]?.id === message.toolCallId
    const nearest = open.findLast(isAnswered)?.message
    const first = open.findIndex((call) => call.message === nearest && isAnswered(call))
    const call = open[first]
    if (call) {
      results.set(key(call), message)
      open.splice(first, 1)
    } else {
      const waiting = early.get(message.toolCallId)
      if (waiting) waiting.push({ result: message, at })
      else early.set(message.toolCallId, [{ result: message, at }])
    }
  }
  closeRun(messages.length)

  const byCallMessage = new Map<string, ToolPair[]>()
  const byResult = new Map<string, ToolPair>()
  for (const callMessage of messages) {
    if (callMessage.toolCalls.length === 0) continue
    const pairs = callMessage.toolCalls.map((call, callIndex) => {
      const result = results.get(key({ message: callMessage, index: callIndex })) ?? null
      const pair = { call, callMessage, callIndex, result }
      if (result) byResult.set(result.id, pair)
      return pair
    })
    byCallMessage.set(callMessage.id, pairs)
  }
  return { byCallMessage, byResult }
}

/**
 * The legal cuts of a conversation: `true` at `index` means that a cut right after `messages[index]` splits no turn. A
 * turn is a run of the assistant with all its calls and all their results.
 */
export function turnBoundaries(messages: readonly Message[], pairs: ToolPairs): boolean[] {
  const indexOf = new Map(messages.map((message, index) => [message.id, index]))
  const boundaries: boolean[] = []
  let unanswered = 0
  let latestEarlyCall = -1
  for (const [at, message] of messages.entries()) {
    const previous = messages[at - 1]
    if (isAssistantSide(message)) {
      if (previous === undefined || !isAssistantSide(previous)) unanswered = 0
      for (const pair of pairs.byCallMessage.get(message.id) ?? []) {
        const resultAt = pair.result === null ? -1 : (indexOf.get(pair.result.id) ?? -1)
        if (pair.result === null || resultAt > at) unanswered++
      }
    } else {
      const pair = pairs.byResult.get(message.id)
      const callAt = pair === undefined ? -1 : (indexOf.get(pair.callMessage.id) ?? -1)
      if (pair && callAt < at) unanswered--
      if (callAt > at) latestEarlyCall = Math.max(latestEarlyCall, callAt)
    }
    boundaries.push(unanswered === 0 && at >= latestEarlyCall)
  }
  return boundaries
}

/**
 * Turn ends as they were known when each message arrived: `true` at `index` means that no call up to `messages[index]`
 * waits for its result. An entry depends only on the messages up to it, so a longer conversation has the same entries
 * at its beginning. It differs from {@link turnBoundaries} when a result sorts before its call: up to the call, it
 * looks like one without a call.
 */
export function turnEnds(messages: readonly Message[]): boolean[] {
  return messages.map(turnEndScan())
}

/** The same as a scan over consecutive messages, for callers that stop at the first match. */
export function turnEndScan(): (message: Message, at: number) => boolean {
  const early = new Map<string, number>()
  let unanswered: string[] = []
  let inRun = false
  return (message, at) => {
    if (isAssistantSide(message)) {
      if (!inRun) unanswered = []
      inRun = true
      for (const { id } of message.toolCalls) {
        const earlyAt = early.get(id)
        if (earlyAt === undefined || at - earlyAt > EARLY_RESULT_MESSAGES_MAX) unanswered.push(id)
        else early.delete(id)
      }
    } else {
      inRun = false
      if (message.role === 'tool_result' && message.toolCallId !== null) {
        const nearest = unanswered.lastIndexOf(message.toolCallId)
        if (nearest >= 0) unanswered.splice(nearest, 1)
        else early.set(message.toolCallId, at)
      }
    }
    return unanswered.length === 0
  }
}
