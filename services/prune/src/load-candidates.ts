import { type CompactionState, ineligibleReason, type Message } from '@heddle/core'
import {
  CONVERSATION_MESSAGES_MAX,
  type Compaction,
  loadUncovered,
  markUndone,
  type Tx,
  toCompactionState,
  withPrunings,
} from '@heddle/store'
import { withExactTokens } from './counting.js'

/** Messages that are looked at first, at least: of a long backlog each compaction would read all the rest again. */
const MESSAGES_LOOKED_AT_FIRST = 1_024
/** Of a backlog, so many windows full of messages are read at once, and compacted one after the other. */
const LOOKED_AT_WINDOWS = 3
/** The most messages that are looked at for one compaction: more than fill any model's window. */
export const MESSAGES_LOOKED_AT_MAX = 16 * CONVERSATION_MESSAGES_MAX

/** As many messages as fill the lane, by the length of the thread's average message. */
export function firstLook({ thread, lane }: Compaction): number {
  const averageTokens = Math.max(
    1,
    thread.tokensEstimate / Math.max(1, thread.headSeq - thread.baseSeq - thread.restoredCount),
  )
  const filling = Math.ceil((LOOKED_AT_WINDOWS * lane.limitTokens) / averageTokens)
  return Math.min(Math.max(filling, MESSAGES_LOOKED_AT_FIRST), MESSAGES_LOOKED_AT_MAX)
}

/** What a compaction is decided by. */
export interface Counted {
  readonly messages: readonly Message[]
  readonly state: CompactionState | null
  readonly hasMore: boolean
}

/** Messages with exact counts; those that were only estimated are counted now, and the counts kept. */
export async function loadCounted(
  tx: Tx,
  { thread, latest }: Compaction,
  { limit, undone }: { limit: number; undone: ReadonlySet<string> },
): Promise<Counted> {
  const { threadId, clearedSeq, lastClearedAtMs } = thread
  const bare = latest && toCompactionState(latest)
  const query = { threadId, clearedSeq, lastClearedAtMs, state: bare, limit }
  const read = await loadUncovered(tx, { ...query, keep: 'oldest' })
  // What was stored since the thread was read is left to the wake that came with it: the state could not name it as seen.
  const messages = markUndone(read.messages, undone).filter(
    (message) => message.seq <= thread.headSeq && ineligibleReason(message) === null,
  )
  return {
    messages: await withExactTokens(tx, threadId, messages),
    state: latest && bare && (await withPrunings(tx, latest, bare, messages)),
    hasMore: read.hasMore,
  }
}
