import { HeddleError, RetryableError } from '@heddle/contracts'
import { checkSummary, noMessages, pinnedFacts, type SummaryRequest, withPinnedFacts } from '@heddle/core'
import type { Summarizer } from '@heddle/models'

/**
 * Requests a summary and validates it. If that fails, the current state stays unchanged.
 *
 * @param replacedTokens the summary must be shorter than this; 0 if its own limit is enough
 * @throws PermanentError `VALIDATION_ERROR` if there is nothing to summarize (docs/summaries.md)
 * @throws RetryableError `SERVICE_UNAVAILABLE` if the summarizer fails or its answer must not be stored
 */
export async function ask(
  summarizer: Summarizer,
  { request, replacedTokens }: { request: SummaryRequest; replacedTokens: number },
  signal: AbortSignal,
): Promise<string> {
  if (request.messages.length === 0 && request.previousSummary === null) throw noMessages()
  const text = await summarizer.summarize(request, signal).catch((error: unknown) => {
    signal.throwIfAborted()
    if (error instanceof HeddleError) throw error
    throw new RetryableError('SERVICE_UNAVAILABLE', `the summarizer "${summarizer.name}" failed`, { cause: error })
  })
  const { tokensMax } = request
  const pinned = pinnedFacts(request.messages)
  const whole = withPinnedFacts(text, pinned, tokensMax)
  checkSummary(whole, { tokensMax, replacedTokens, pinned })
  return whole
}
