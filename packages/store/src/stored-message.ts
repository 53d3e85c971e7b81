import type { Role, ThinkingBlock, ToolCall } from '@heddle/contracts'
import type { Message } from '@heddle/core'
import type { Tx } from './connection.js'
import { countedTokens } from './token-counts.js'

/** The columns of which a core `Message` is made, for `select ... from heddle.messages as message`. */
export function messageColumns(tx: Tx) {
  return tx`
    message.id, message.seq, message.code, message.role, message.content, message.content_escaped,
    message.thinking, message.tool_calls, message.tool_call_id, message.tool_name, message.is_error,
    message.ordered_at as ordered_at_ms, message.ordinal, message.model, message.usage, message.context_id,
    message.pinned, message.kept_aside, message.tokens_estimate,
    -- The first that the text holds, with its quotes. Postgres' own operators decode all of the metadata on their way, and
    -- fail on the lone surrogates and NUL characters that these may hold.
    substring(message.metadata::text from '"cwd":("(?:[^"\\\\]|\\\\.)*")') as cwd,
    ${countedTokens(tx)} as tokens_counted`
}

export interface MessageRow extends Omit<Message, 'thinking' | 'toolCalls' | 'tokens' | 'tokensExact'> {
  readonly contentEscaped: boolean
  readonly thinking: ThinkingBlock[] | null
  readonly toolCalls: ToolCall[] | null
  readonly tokensEstimate: number
  readonly tokensCounted: number | null
}

export function toMessage(row: MessageRow): Message {
  return {
    id: row.id,
    seq: row.seq,
    code: row.code,
    role: row.role as Role,
    content: row.contentEscaped ? (JSON.parse(row.content) as string) : row.content,
    thinking: row.thinking ?? [],
    toolCalls: row.toolCalls ?? [],
    toolCallId: row.toolCallId,
    toolName: row.toolName,
    isError: row.isError,
    orderedAtMs: row.orderedAtMs,
    ordinal: row.ordinal,
    model: row.model,
    usage: row.usage,
    pinned: row.pinned,
    keptAside: row.keptAside,
    contextId: row.contextId,
    ...(row.cwd != null && { cwd: JSON.parse(row.cwd) as string }),
    tokens: row.tokensCounted ?? row.tokensEstimate,
    tokensExact: row.tokensCounted !== null,
  }
}
