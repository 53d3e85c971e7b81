import {
  type Message,
  messageReference,
  type Position,
  rawCost,
  readConversation,
  redactSecrets,
  SOURCE_CHARACTERS_MAX,
  SUMMARIZED_MESSAGES_MAX,
  type SummarySource,
  summarySources,
} from '@heddle/core'
import type { Summarizer } from '@heddle/models'
import { type Compaction, type ContextStateRow, loadCoveredPage, type Store, toCompactionState } from '@heddle/store'

/** Messages of one reading: their texts stay as what a summarizer reads, the rows do not. */
const PAGE_MESSAGES = 1_000
/** Characters of all messages of one summary; of a long range each message gets its part. */
const CHARACTERS_MAX = 64_000_000
const MESSAGE_CHARACTERS_MIN = 400

/** What a summary is made of. */
export interface Sources {
  readonly messages: readonly SummarySource[]
  /** What the messages cost in a context, in tokens. */
  readonly replacedTokens: number
}

const reference = (message: Message) => messageReference(message.code)

/**
 * Reads the raw messages that a compaction covers, the newest of them where they are more than the summarizer takes, page by
 * page: a range of two million tokens is held once, as text. For a provider secrets are taken out of whole messages.
 */
export async function readSources(
  store: Store,
  projectId: string,
  { thread }: Compaction,
  pending: ContextStateRow,
  { isRemote = false, messagesMax = SUMMARIZED_MESSAGES_MAX }: Summarizer,
): Promise<Sources> {
  const expected = Math.max(1, Math.min(pending.coveredCount, messagesMax))
  const share = Math.max(MESSAGE_CHARACTERS_MIN, Math.floor(CHARACTERS_MAX / expected))
  const options = {
    charactersMax: Math.min(SOURCE_CHARACTERS_MAX, share),
    ...(isRemote && { prepare: redactSecrets }),
  }
  const query = { threadId: thread.threadId, clearedSeq: thread.clearedSeq, state: toCompactionState(pending) }
  const pages: SummarySource[][] = []
  let before: Position | null = null
  let replacedTokens = 0
  for (let left = messagesMax; left > 0; ) {
    const limit = Math.min(PAGE_MESSAGES, left)
    const { messages, next }: Awaited<ReturnType<typeof loadCoveredPage>> = await store.inProject(projectId, (tx) =>
      loadCoveredPage(tx, { ...query, limit, before }),
    )
    const page = readConversation(messages)
    pages.push(summarySources(page.messages, page.pairs, reference, options))
    replacedTokens += page.messages.reduce((sum, message) => sum + rawCost(message), 0)
    left -= limit
    before = next
    if (next === null) break
  }
  return { messages: pages.reverse().flat(), replacedTokens }
}
