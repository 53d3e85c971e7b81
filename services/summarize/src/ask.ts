import { HeddleError, RetryableError } from '@heddle/contracts'
import { checkSummary, noMessages, pinnedFacts, type SummaryRequest, withPinnedFacts } from '@heddle/core'
import type { Summarizer } from '@heddle/models'

/**
 * Asks for a summary and checks it before anybody sees it. What is in force stays as it is where this fails.
 *
 * @param replacedTokens what it is to be shorter than; 0 where its own limit is enough
 * @throws PermanentError `VALIDATION_ERROR` where there is nothing to summarize (docs/summaries.md)
 * @throws RetryableError `SERVICE_UNAVAILABLE` where the summarizer fails or its answer must not be stored
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
