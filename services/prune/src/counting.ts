import { countMessageTokensInSteps, type Message, type Pausable, sentIn } from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import { type Compaction, recordTokenCounts, type TokenCount, type Tx } from '@heddle/store'

/** Counts the messages that were only estimated, with pauses for other work of the process, and stores the counts. */
export async function withExactTokens(tx: Tx, threadId: string, messages: readonly Message[]): Promise<Message[]> {
  const counts: TokenCount[] = []
  const counted = await runCooperatively(countedExactly(messages, counts))
  // Messages are in the order of the conversation, recorded counts in the order of storage.
  counts.sort((one, other) => one.seq - other.seq)
  await recordTokenCounts(tx, { threadId, counts })
  return counted
}

function* countedExactly(messages: readonly Message[], counts: TokenCount[]): Pausable<Message[]> {
  const counted: Message[] = []
  for (const message of messages) {
    if (message.tokensExact) {
      counted.push(message)
      continue
    }
    const exact = yield* countMessageTokensInSteps(message)
    counts.push({ seq: message.seq, ...exact })
    counted.push({ ...message, ...exact, tokensExact: true })
    yield
  }
  return counted
}

/** Messages in the form of the agent's contexts: content that the form omits costs no tokens. */
export function asSent(messages: readonly Message[], { settings }: Compaction): Message[] {
  return messages.map((message) => sentIn(settings.format ?? 'neutral', message))
}
