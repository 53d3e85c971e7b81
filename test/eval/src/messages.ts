import type { PlannedThread } from '@heddle/cli'
import { countMessageTokens, countTokens, type Message } from '@heddle/core'

/** A message of an import as the rules see it, in the order of its file. */
export function toMessage(input: PlannedThread['messages'][number], index: number): Message {
  const sent = { content: input.content, toolCalls: input.toolCalls ?? [], thinking: input.thinking ?? [] }
  return {
    ...sent,
    id: input.id,
    seq: index + 1,
    code: input.id.slice(0, 8),
    role: input.role,
    toolCallId: input.toolCallId ?? null,
    toolName: input.toolName ?? null,
    isError: input.isError ?? false,
    orderedAtMs: index,
    ordinal: 0,
    model: input.model ?? null,
    usage: null,
    pinned: input.pinned ?? false,
    keptAside: input.keptAside ?? null,
    contextId: null,
    ...countMessageTokens(sent, countTokens),
    tokensExact: true,
  }
}
