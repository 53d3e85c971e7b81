import { HeddleError, RetryableError } from '@heddle/contracts'
import { holdsFact, type PinnedFact } from '../summarizing/pinned.js'
import { countTokens } from '../tokens/tokens.js'
import { PROTOCOL } from '../tools/protocol.js'

/**
 * Phrases with which models refuse, or ask for clarification, at the start of their output. After a list dash they are
 * quotes.
 */
const REFUSALS =
  /^[^\p{L}\p{N}-]*(none\b\W*$|n\/a\W*$|i('m| am) (very )?(sorry|unable|not able)|i apologi[sz]e|i can(no|')t|i (won't|will not) (be able|summari)|as an ai|(could|can|would) you (please )?(provide|share|paste)|please (provide|share|paste)|there is (no conversation|nothing to summari)|no (conversation|messages) (was|were|to)|no conversation|you (haven't|have not|did not|didn't) (provide|share|paste)|the conversation (excerpt )?(is empty|was not provided))/iu

/** A whole answer that is a tool call as JSON, or a list of them. */
const CALL_AS_JSON =
  /^\s*(\[TOOL_CALLS\]|(```(json)?\s*)?[[{]\s*(\{\s*)?"(tool_calls|function|name|type|arguments)"\s*:\s*["[{])/u

/** Words of the prompts themselves: a model that repeats its instructions did not follow them. */
const INSTRUCTIONS =
  /Focus on information density\.\s+Conversation:|## New Iterations to Incorporate|Summarize this conversation (excerpt concisely|in 2-4 sentences)/u

export interface SummaryLimits {
  readonly tokensMax: number
  /** Tokens of the messages that the summary replaces; 0 if it may have any length up to `tokensMax`. */
  readonly replacedTokens: number
  /** Facts that it must contain, see `pinnedFacts`. */
  readonly pinned?: readonly PinnedFact[]
}

/**
 * Refuses a summary that must not be stored: the previous one then stays in force, and the job is retried.
 *
 * @throws RetryableError `SERVICE_UNAVAILABLE` with the fault of the summary
 */
export function checkSummary(summary: string, limits: SummaryLimits): void {
  const fault = summaryFault(summary, limits)
  if (fault === null) return
  const isPinnedLost = fault.startsWith(PINNED_LOST)
  const field = isPinnedLost ? PINNED_FIELD : 'summary'
  throw new RetryableError('SERVICE_UNAVAILABLE', `the summary was refused: ${fault}`, { field })
}

const PINNED_LOST = 'it lost '
const PINNED_FIELD = 'summary.pinned'

/** Whether {@link checkSummary} refused a summary only because it lost pinned facts. */
export function isPinnedLoss(error: unknown): boolean {
  return error instanceof HeddleError && error.field === PINNED_FIELD
}

/** The fault of a summary, without quoting it; null if it may be stored. */
export function summaryFault(
  summary: string,
  { tokensMax, replacedTokens, pinned = [] }: SummaryLimits,
): string | null {
  if (summary.trim() === '') return 'it is empty'
  if (REFUSALS.test(summary)) return 'it is a refusal or a question, not a summary'
  if (PROTOCOL.test(summary) || CALL_AS_JSON.test(summary)) return 'it holds tool protocol text'
  if (INSTRUCTIONS.test(summary)) return 'it repeats its instructions'
  const tokens = countTokens(summary)
  if (tokens > tokensMax) return `it has ${tokens} tokens, the limit is ${tokensMax}`
  if (tokens >= replacedTokens && replacedTokens > 0) return 'it is not shorter than what it replaces'
  const lost = pinned.filter((fact) => !holdsFact(summary, fact)).length
  return lost === 0 ? null : `${PINNED_LOST}${lost} of ${pinned.length} pinned facts`
}
