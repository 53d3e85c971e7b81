import { type CompactionState, ineligibleReason, type Message } from '@heddle/core'
import {
  CONVERSATION_MESSAGES_MAX,
  type Compaction,
  loadUncovered,
  markPinned,
  markUndone,
  type Tx,
  toCompactionState,
  withPrunings,
} from '@heddle/store'
import { withExactTokens } from './counting.js'

/** Fewest messages of a first read: with less, each compaction of a long backlog would read the rest again. */
const FIRST_READ_MESSAGES_MIN = 1_024
/** Windows of messages that are read at once from a backlog, and compacted one after the other. */
const FIRST_READ_WINDOWS = 3
/** Most messages read for one compaction: more than fit any model's window. */
export const MESSAGES_READ_MAX = 16 * CONVERSATION_MESSAGES_MAX

/** Number of messages that fill the lane, at the average length of the thread's messages. */
export function firstReadLimit({ thread, lane }: Compaction): number {
  const averageTokens = Math.max(
    1,
    thread.tokensEstimate / Math.max(1, thread.headSeq - thread.baseSeq - thread.restoredCount),
  )
  const filling = Math.ceil((FIRST_READ_WINDOWS * lane.limitTokens) / averageTokens)
  return Math.min(Math.max(filling, FIRST_READ_MESSAGES_MIN), MESSAGES_READ_MAX)
}

/** Undone prunings and pins of stored messages, by message id. */
export interface Marks {
  readonly undone: ReadonlySet<string>
  readonly pins: ReadonlyMap<string, boolean>
}

/** Input of the compaction decision. */
export interface Counted {
  readonly messages: readonly Message[]
  readonly state: CompactionState | null
  readonly hasMore: boolean
}

/** Loads messages with exact counts; estimated ones are counted, and the counts stored. */
export async function loadCounted(
  tx: Tx,
  { thread, latest }: Compaction,
  { limit, marks }: { limit: number; marks: Marks },
): Promise<Counted> {
  const { threadId, clearedSeq, lastClearedAtMs } = thread
  const bare = latest && toCompactionState(latest)
  const query = { threadId, clearedSeq, lastClearedAtMs, state: bare, limit }
  const read = await loadUncovered(tx, { ...query, keep: 'oldest' })
  // Messages stored after the thread was read are left to their own wake, because the state could not name them as seen.
  const messages = markPinned(markUndone(read.messages, marks.undone), marks.pins).filter(
    (message) => message.seq <= thread.headSeq && ineligibleReason(message) === null,
  )
  return {
    messages: await withExactTokens(tx, threadId, messages),
    state: latest && bare && (await withPrunings(tx, latest, bare, messages)),
    hasMore: read.hasMore,
  }
}
