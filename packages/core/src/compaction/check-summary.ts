import { RetryableError } from '@heddle/contracts'
import { countTokens } from '../tokens.js'

/**
 * Phrases with which models refuse or ask back instead of summarizing, at the beginning of what they wrote. After the dash of
 * a list they are what somebody said.
 */
const REFUSALS =
  /^[^\p{L}\p{N}-]*(none\b\W*$|n\/a\W*$|i('m| am) sorry|i can(no|')t|as an ai|please (provide|share|paste)|there is no conversation|no conversation)/iu

/** Marks of tool protocols that a summary must not carry into a context; models that write them did not summarize. */
const PROTOCOL = /<\/?(function_calls?|invoke|tool_call|tool_use|antml:[a-z_]+)\b|<\|[a-z_]+\|>/iu

/** A text whose protocol marks are for reading only: who talks about them must still get a summary that may be stored. */
export function withoutProtocol(text: string): string {
  return text.replace(new RegExp(PROTOCOL, 'giu'), (mark) => mark.replace('<', '‹'))
}

/**
 * Refuses a summary that must not be stored: what was there before stays in force then, and the job is tried again.
 *
 * @throws RetryableError `SERVICE_UNAVAILABLE` that says what is wrong with it
 */
export function checkSummary(summary: string, limits: { tokensMax: number; replacedTokens: number }): void {
  const fault = summaryFault(summary, limits)
  if (fault !== null)
    throw new RetryableError('SERVICE_UNAVAILABLE', `the summary was refused: ${fault}`, { field: 'summary' })
}

function summaryFault(summary: string, limits: { tokensMax: number; replacedTokens: number }): string | null {
  if (summary.trim() === '') return 'it is empty'
  if (REFUSALS.test(summary)) return 'it is a refusal or a question, not a summary'
  if (PROTOCOL.test(summary)) return 'it holds tool protocol text'
  const tokens = countTokens(summary)
  if (tokens > limits.tokensMax) return `it has ${tokens} tokens, allowed are ${limits.tokensMax}`
  if (tokens >= limits.replacedTokens && limits.replacedTokens > 0) return 'it is not shorter than what it replaces'
  return null
}
