import { countMessageTokens, countTokens, type Message, sentIn } from '@heddle/core'
import { type Compaction, recordTokenCounts, type TokenCount, type Tx } from '@heddle/store'

/** Counts the messages that were only estimated, and keeps the counts. */
export async function withExactTokens(tx: Tx, threadId: string, messages: readonly Message[]): Promise<Message[]> {
  const counts: TokenCount[] = []
  const counted = messages.map((message) => {
    if (message.tokensExact) return message
    const exact = countMessageTokens(message, countTokens)
    counts.push({ seq: message.seq, ...exact })
    return { ...message, ...exact, tokensExact: true }
  })
  // Messages come in the order of the conversation; what is recorded lies in that of storing.
  counts.sort((one, other) => one.seq - other.seq)
  await recordTokenCounts(tx, { threadId, counts })
  return counted
}

/** Messages as the agent's contexts send them: what their form leaves out takes no room in them. */
export function asSent(messages: readonly Message[], { settings }: Compaction): Message[] {
  return messages.map((message) => sentIn(settings.format ?? 'neutral', message))
}
