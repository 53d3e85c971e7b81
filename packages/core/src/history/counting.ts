import type { FormatName } from '@heddle/contracts'
import { REASONING_BLOCK_TOKENS } from '../compaction/costs.js'
import { countNeutralMessage } from '../formats/index.js'
import type { NeutralMessage } from '../formats/neutral-message.js'
import type { Line } from './line.js'

/** Counts the tokens of a text; see `counters` in the contracts. */
export type Count = (text: string) => number

export interface Counting {
  readonly format: FormatName
  readonly count: Count
  /** Whether stored token counts of messages were made by this counter. */
  readonly storedCountsFit: boolean
}

/** Upper bound of the tokens that a provider's format adds per message or call. */
const MESSAGE_TOKENS = 6
const CALL_TOKENS = 8
/** Ids and names that every provider accepts unchanged. */
const PLAIN = /^[\w-]{1,40}$/

/**
 * Tokens of a line, never less than the count of its rendered form. The stored count of a verbatim message is reused,
 * and only its markup is counted.
 */
export function countLine(line: Line, counting: Counting): number {
  const only = line.sources[0]
  const isVerbatim = line.sources.length === 1 && only?.fate.mode === 'raw' && !only.asText && only.message.tokensExact
  if (!counting.storedCountsFit || !isVerbatim || !isPlain(line.neutral)) {
    return countNeutralMessage(counting.format, line.neutral, counting.count)
  }
  const { toolCalls, toolCallId, toolName, thinking = [] } = line.neutral
  const calls = (toolCalls ?? []).reduce((sum, call) => sum + CALL_TOKENS + counting.count(call.id), 0)
  const result = toolCallId === undefined ? 0 : counting.count(toolCallId) + counting.count(toolName ?? '')
  return MESSAGE_TOKENS + only.message.tokens + calls + result + thinking.length * REASONING_BLOCK_TOKENS
}

/**
 * Formats change some messages: they wrap system messages within a history in tags, and rewrite ids and names of calls.
 */
function isPlain({ role, parts, toolCalls, toolCallId, toolName }: NeutralMessage): boolean {
  const names = [...(toolCalls ?? []).flatMap((call) => [call.id, call.name]), toolCallId, toolName]
  return role !== 'system' && parts === undefined && names.every((name) => name === undefined || PLAIN.test(name))
}
