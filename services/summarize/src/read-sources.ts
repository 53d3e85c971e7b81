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

/** Messages of one read: their texts are kept for the summarizer, the rows are not. */
const PAGE_MESSAGES = 1_000
/** Characters of all messages of one summary; in a long range each message is cut to its share. */
const CHARACTERS_MAX = 64_000_000
const MESSAGE_CHARACTERS_MIN = 400

/** Input of a summary. */
export interface Sources {
  readonly messages: readonly SummarySource[]
  /** Tokens of the messages in a context. */
  readonly replacedTokens: number
}

const reference = (message: Message) => messageReference(message.code)

/**
 * Reads the raw messages that a compaction covers, page by page, so that a range of two million tokens is held once, as
 * text. If the summarizer accepts less, the newest are read. For a remote provider, secrets are redacted in whole messages.
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
