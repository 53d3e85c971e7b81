import {
  AtomCollector,
  type AtomSet,
  type CompactionState,
  ineligibleReason,
  type Message,
  messageReference,
  type Position,
  readConversation,
  summarySources,
} from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import { loadCoveredAfter, type ThreadRow } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'

/** Messages of one read. */
const PAGE_MESSAGES = 500
/** Messages whose details are found; a longer range is read in part. */
const MESSAGES_MAX = 20_000

export interface Collected {
  readonly atoms: AtomSet
  readonly messagesRead: number
  /** Whether all messages of the range were read. */
  readonly isWhole: boolean
}

/**
 * The details of the messages that a state covers. Each page is read in a transaction of its own, so that a long range holds no
 * connection while its texts are read.
 */
export async function collectAtoms(
  { store, projectId }: Pick<EngineContext, 'store' | 'projectId'>,
  { threadId, clearedSeq }: Pick<ThreadRow, 'threadId' | 'clearedSeq'>,
  state: CompactionState,
): Promise<Collected> {
  const collector = new AtomCollector()
  let after: Position | null = null
  let messagesRead = 0
  do {
    const query = { threadId, clearedSeq, state, after, limit: PAGE_MESSAGES }
    const page: Awaited<ReturnType<typeof loadCoveredAfter>> = await store.inProject(projectId, (tx) =>
      loadCoveredAfter(tx, query),
    )
    const { messages, pairs } = readConversation(page.messages.filter((one) => ineligibleReason(one) === null))
    await runCooperatively(collector.add(summarySources(messages, pairs, reference)))
    messagesRead += messages.length
    after = page.next
  } while (after !== null && messagesRead < MESSAGES_MAX)
  return { atoms: collector.result(), messagesRead, isWhole: after === null }
}

const reference = (message: Message) => messageReference(message.code)
