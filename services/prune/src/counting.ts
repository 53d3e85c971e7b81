import { countMessageTokens, countTokens, type Message } from '@heddle/core'
import { recordTokenCounts, type Tx } from '@heddle/store'

/** Counts the messages that were only estimated, and keeps the counts. */
export async function withExactTokens(tx: Tx, threadId: string, messages: readonly Message[]): Promise<Message[]> {
  const counts: { seq: number; tokens: number }[] = []
  const counted = messages.map((message) => {
    if (message.tokensExact) return message
    const tokens = countMessageTokens(message, countTokens)
    counts.push({ seq: message.seq, tokens })
    return { ...message, tokens, tokensExact: true }
  })
  // Messages come in the order of the conversation; what is recorded lies in that of storing.
  counts.sort((one, other) => one.seq - other.seq)
  await recordTokenCounts(tx, { threadId, counts })
  return counted
}
