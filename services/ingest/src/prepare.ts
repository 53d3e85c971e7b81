import { type IngestJob, messageCharacters, type PlacedMessage, partBytes } from '@heddle/contracts'
import { boundPlace, estimateMessageTokens, messageFingerprint, partToStore } from '@heddle/core'
import type { Append, PreparedMessage } from '@heddle/store'

/** An append with its size, by which groups are bounded. */
export interface PreparedAppend extends Append {
  readonly characters: number
}

/** Brings a job's messages into the form in which they are stored: placed, hashed, and with an estimate of their tokens. */
export function prepareAppend(job: IngestJob, receivedAtMs: number): PreparedAppend {
  return {
    requestId: job.requestId,
    characters: job.messages.reduce((sum, placed) => sum + roomOf(placed), 0),
    agent: job.agent,
    thread: job.thread,
    ...(job.newAgentRollingWindow !== undefined && { newAgentRollingWindow: job.newAgentRollingWindow }),
    messages: job.messages.map((placed) => prepareMessage(placed, receivedAtMs)),
  }
}

function prepareMessage({ message, ordinal, orderedAt }: PlacedMessage, receivedAtMs: number): PreparedMessage {
  const { parts: given, ...input } = message
  const parts = given?.map(partToStore)
  const { content, toolCalls = [], thinking = [] } = message
  const counted = { content, toolCalls, thinking, ...(parts !== undefined && { parts: parts.map(({ part }) => part) }) }
  return {
    input,
    ...(parts !== undefined && { parts }),
    ordinal,
    orderedAtMs: boundPlace(Date.parse(orderedAt), receivedAtMs),
    tokensEstimate: estimateMessageTokens(counted).tokens,
    fingerprint: messageFingerprint(message),
  }
}

/** What a message takes of a transaction's room. */
function roomOf({ message }: PlacedMessage): number {
  return messageCharacters(message) + (message.parts ?? []).reduce((sum, part) => sum + partBytes(part), 0)
}
