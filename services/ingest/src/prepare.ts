import { type IngestJob, messageCharacters } from '@heddle/contracts'
import { boundPlace, countMessageTokens, estimateTokens, messageFingerprint } from '@heddle/core'
import type { Append } from '@heddle/store'

/** An append with its size, by which groups are bounded. */
export interface PreparedAppend extends Append {
  readonly characters: number
}

/** Brings a job's messages into the form in which they are stored: placed, hashed, and with an estimate of their tokens. */
export function prepareAppend(job: IngestJob, receivedAtMs: number): PreparedAppend {
  return {
    requestId: job.requestId,
    characters: job.messages.reduce((sum, { message }) => sum + messageCharacters(message), 0),
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
      ).tokens,
      fingerprint: messageFingerprint(message),
    })),
  }
}
