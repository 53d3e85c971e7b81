import type { Rendered } from './format.js'
import { partBlockTokens } from './part-counting.js'

/** Upper bound for a role, a type and the separators around one message or block, in every format. */
const PART_TOKENS = 4
/** Tokens that a provider adds once, to start the answer. */
const ANSWER_TOKENS = 3

export type Count = (text: string) => number

/**
 * Tokens of rendered messages: every text that is sent, plus an allowance for the provider's markup. The sum over
 * {@link countRenderedMessage} plus a constant, so callers may count each message once and cache the figure.
 *
 * @param messages in any provider's form; the system prompt beside them is counted by {@link countSystem}
 */
export function countRendered(messages: readonly object[], count: Count): number {
  return messages.reduce((sum, message) => sum + countRenderedMessage(message, count), ANSWER_TOKENS)
}

/** A message whose content is a list of blocks costs as much as its blocks, so merging two turns changes nothing. */
export function countRenderedMessage(message: object, count: Count): number {
  const isBlockList = 'content' in message && Array.isArray(message.content) && message.content.length > 0
  return (isBlockList ? 0 : PART_TOKENS) + countFields(message, count)
}

/** The system prompt that a format sends beside the messages, as a text or as blocks. */
export function countSystem(system: Rendered['system'], count: Count): number {
  if (system === null) return 0
  if (typeof system === 'string') return PART_TOKENS + count(system)
  return system.reduce((sum, block) => sum + PART_TOKENS + count(block.text), 0)
}

function countFields(part: object, count: Count): number {
  let tokens = 0
  for (const [name, value] of Object.entries(part)) {
    if (name === 'role' || name === 'type') continue
    if (typeof value === 'string') tokens += count(value)
    // A tool's arguments are serialized as JSON, keys and numbers included.
    else if (name === 'input' || name === 'arguments') tokens += count(JSON.stringify(value))
    else if (Array.isArray(value)) tokens += countParts(value, count)
    else if (typeof value === 'object' && value !== null) tokens += countFields(value, count)
  }
  return tokens
}

function countParts(parts: readonly unknown[], count: Count): number {
  return parts.reduce<number>((sum, part) => {
    if (typeof part === 'string') return sum + PART_TOKENS + count(part)
    if (typeof part !== 'object' || part === null) return sum + PART_TOKENS
    return sum + PART_TOKENS + (partBlockTokens(part) ?? countFields(part, count))
  }, 0)
}
