import type { NeutralMessage } from './neutral-message.js'

/** Replaces the result of a call that was never answered. */
export const NO_RESULT_TEXT = '[no result was recorded for this call]'

/**
 * Makes a list well formed without leaving anything out: results move right after their calls, in the order of the
 * calls; an unanswered call gets a placeholder result; a result without an open call becomes user text; a reused id
 * gets a number.
 */
export function repairNeutral(messages: readonly NeutralMessage[]): NeutralMessage[] {
  const left = [...messages]
  const used = new Set<string>()
  const repaired: NeutralMessage[] = []
  for (let message = left.shift(); message !== undefined; message = left.shift()) {
    if (message.role === 'tool_result') {
      const about = `[result of an earlier call of ${message.toolName ?? 'a tool'}]`
      repaired.push({ role: 'user', content: `${about}\n${message.content}` })
      continue
    }
    const { toolCalls = [], ...rest } = message
    if (toolCalls.length === 0 || message.role !== 'assistant') {
      repaired.push(rest)
      continue
    }
    const calls = toolCalls.map((call) => ({ call, id: freshId(call.id, used), result: takeResult(left, call.id) }))
    repaired.push({ ...rest, toolCalls: calls.map(({ call, id }) => ({ ...call, id })) })
    for (const { call, id, result } of calls) {
      const answer = result ?? { role: 'tool_result' as const, content: NO_RESULT_TEXT, toolName: call.name }
      repaired.push({ ...answer, toolCallId: id })
    }
  }
  return repaired
}

/** Removes and returns the next result of a call, unless another call uses its id before. */
function takeResult(left: NeutralMessage[], id: string): NeutralMessage | null {
  const reused = left.findIndex(({ toolCalls }) => toolCalls?.some((call) => call.id === id))
  const at = left.findIndex((message) => message.role === 'tool_result' && message.toolCallId === id)
  if (at < 0 || (reused >= 0 && reused < at)) return null
  return left.splice(at, 1)[0] ?? null
}

function freshId(id: string, used: Set<string>): string {
  let fresh = id
  for (let number = 2; used.has(fresh); number++) fresh = `${id}_${number}`
  used.add(fresh)
  return fresh
}
