import { type FormatName, formats } from '@heddle/contracts'
import { carriesReasoning } from '../formats/index.js'
import { partsTokens } from '../parts/tokens.js'
import { type PartsOf, partsTokensIn } from './sent-parts.js'

/** Totals over the messages of a thread that a context may show. */
export interface ThreadSizes {
  readonly messages: number
  readonly toolCalls: number
  /** Tokens of everything that is sent of them, reasoning included. */
  readonly tokens: number
  readonly reasoningTokens: number
  /** Characters of the ids that connect results to calls; each id is sent twice. */
  readonly callIdCharacters: number
  /** The images, documents and sounds of the messages; `tokens` includes them by the most expensive rule. */
  readonly parts: readonly PartsOf[]
}

const MESSAGE_TOKENS = 5
const CALL_TOKENS = 8
/** Ids are random letters and digits: fewer characters per token than words. */
const TOKENS_PER_ID_CHARACTER = 0.65

/** Tokens of a whole thread verbatim in each format, within 5 % of what is sent, without system prompt and docs. */
export function sentTokens(sizes: ThreadSizes): Record<FormatName, number> {
  const { messages, toolCalls, tokens, reasoningTokens, callIdCharacters, parts } = sizes
  const beside = messages * MESSAGE_TOKENS + toolCalls * CALL_TOKENS + 2 * callIdCharacters * TOKENS_PER_ID_CHARACTER
  const sent = (format: FormatName) =>
    parts.reduce(
      (sum, one) => sum - partsTokens(one.parts) + partsTokensIn(format, one),
      tokens - (carriesReasoning(format) ? 0 : reasoningTokens) + beside,
    )
  return Object.fromEntries(formats.map((format) => [format, Math.round(sent(format))])) as Record<FormatName, number>
}
