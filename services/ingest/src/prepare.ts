import type { IngestJob } from '@heddle/contracts'
import { boundPlace, countMessageTokens, estimateTokens, messageFingerprint } from '@heddle/core'
import type { Append } from '@heddle/store'

/** Brings a job's messages into the form in which they are stored: placed, hashed, and with an estimate of their tokens. */
export function prepareAppend(job: IngestJob, receivedAtMs: number): Append {
  return {
    requestId: job.requestId,
    agent: job.agent,
    thread: job.thread,
    ...(job.newAgentRollingWindow !== undefined && { newAgentRollingWindow: job.newAgentRollingWindow }),
    messages: job.messages.map(({ message, ordinal, orderedAt }) => ({
      input: message,
      ordinal,
      orderedAtMs: boundPlace(Date.parse(orderedAt), receivedAtMs),
      tokensEstimate: countMessageTokens(
        { content: message.content, toolCalls: message.toolCalls ?? [], thinking: message.thinking ?? [] },
        estimateTokens,
      ),
      fingerprint: messageFingerprint(message),
    })),
  }
}
