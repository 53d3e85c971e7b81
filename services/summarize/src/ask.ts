import { HeddleError, RetryableError } from '@heddle/contracts'
import { checkSummary, countTokens, noMessages, pinnedFacts, type SummaryRequest, withPinnedFacts } from '@heddle/core'
import type { Summarizer } from '@heddle/models'

/**
 * Requests a summary and validates it. If that fails, the current state stays unchanged.
 *
 * @param requestedTokens the length that the summarizer is asked for; a longer summary is kept up to the limit of the request
 * @param replacedTokens the summary must be shorter than this; 0 if its own limit is enough
 * @throws PermanentError `VALIDATION_ERROR` if there is nothing to summarize (docs/summaries.md)
 * @throws RetryableError `SERVICE_UNAVAILABLE` if the summarizer fails or its answer must not be stored
 */
export async function ask(
  summarizer: Summarizer,
  { request, replacedTokens }: { request: SummaryRequest; replacedTokens: number },
  signal: AbortSignal,
  requestedTokens = request.tokensMax,
): Promise<string> {
  if (request.messages.length === 0 && request.previousSummary === null) throw noMessages()
  const text = await summarizer
    .summarize({ ...request, tokensMax: requestedTokens }, signal)
    .catch((error: unknown) => {
      signal.throwIfAborted()
      if (error instanceof HeddleError) throw error
      throw new RetryableError('SERVICE_UNAVAILABLE', `the summarizer "${summarizer.name}" failed`, { cause: error })
    })
  const { tokensMax } = request
  const pinned = pinnedFacts(request.messages)
  const added = withPinnedFacts(text, pinned, tokensMax)
  // Without tokens for the pinned facts they are lost, and nothing is too long.
  const whole = countTokens(added) > tokensMax ? text : added
  checkSummary(whole, { tokensMax, replacedTokens, pinned })
  return whole
}
