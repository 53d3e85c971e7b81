import type { Message } from '@heddle/core'
import { loadUserMessages } from '../messages/messages.js'
import { holdThread } from '../messages/tombstones.js'
import type { Store } from '../store.js'
import { advanceRememberCursor } from '../threads/cursors.js'
import type { ThreadRow } from '../threads/threads.js'
import { insertFacts, type NewFact } from './facts.js'

/** Messages whose facts are stored in one transaction. */
const MESSAGES_PER_BATCH_MAX = 100
/** Messages of any role that a batch goes through for those of people: results of tools, whose contents are not read. */
const MESSAGES_PASSED_MAX = 1_000

/** Reads facts from messages by rules or by a model. */
export interface FactReader {
  /** Messages that it reads at once. */
  readonly messagesMax?: number
  read(messages: readonly Message[]): Promise<ReadFacts>
}

export interface ReadFacts {
  /** The version of the rules, or the model. */
  readonly extractor: string
  readonly facts: readonly NewFact[]
}

export interface FactBatch {
  readonly projectId: string
  readonly thread: Pick<ThreadRow, 'threadId' | 'agentId' | 'baseSeq' | 'sharedSeq' | 'headSeq' | 'erasedCount'>
  readonly afterSeq: number
  /** The last message to read; default the head. */
  readonly toSeq?: number
  readonly reader: FactReader
  /** Whether the cursor of the stage is at `afterSeq` and advances with the facts. */
  readonly isStage: boolean
}

export interface ReadBatch {
  /** The last message that was passed. */
  readonly toSeq: number
  /** Facts that were read, and those among them that were not stored before. */
  readonly facts: number
  readonly added: number
}

/**
 * Reads facts from the next messages of people in a thread and stores them. Every reader of facts goes this way: a message that
 * was read before by the same version of the extractor adds nothing, whichever of them reads it again.
 *
 * @returns null if the thread, or messages of it, were erased meanwhile, or another worker moved the cursor
 */
export async function extractBatch(store: Store, batch: FactBatch): Promise<ReadBatch | null> {
  const { projectId, thread, reader, isStage } = batch
  const { threadId, agentId, erasedCount } = thread
  const { messagesMax: limit = MESSAGES_PER_BATCH_MAX } = reader
  // Facts of messages that a fork shares are those of their own thread.
  const afterSeq = Math.max(batch.afterSeq, thread.baseSeq, thread.sharedSeq)
  const lastSeq = Math.min(afterSeq + MESSAGES_PASSED_MAX, batch.toSeq ?? thread.headSeq, thread.headSeq)
  const messages = await store.inProject(projectId, (tx) =>
    loadUserMessages(tx, { threadId, afterSeq, toSeq: lastSeq, limit }),
  )
  const toSeq = messages.length < limit ? lastSeq : (messages.at(-1)?.seq ?? lastSeq)
  const { extractor, facts } = await reader.read(messages)
  return await store.inProject(projectId, async (tx) => {
    // The thread before its cursor, as erasures lock them.
    if (!(await holdThread(tx, threadId, toSeq, erasedCount))) return null
    const move = { threadId, fromSeq: batch.afterSeq, toSeq, erasedCount }
    if (isStage && !(await advanceRememberCursor(tx, move))) return null
    const added = await insertFacts(tx, { agentId, threadId, extractor, origin: 'extracted', facts })
    return { toSeq, facts: facts.length, added }
  })
}
