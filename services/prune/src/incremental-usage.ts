import { usageBelowTrigger } from '@heddle/core'
import { refuseLargeJob, type WorkSize } from '@heddle/queue'
import { type Compaction, loadMessagesBySeq, type PruneUsage, type Tx, toCompactionState } from '@heddle/store'
import { asSent, withExactTokens } from './counting.js'

/** A longer backlog is read with the whole thread. */
const GROWTH_MESSAGES_MAX = 5_000

/**
 * Reads only the messages after the stage's cursor. Otherwise a thread that grows message by message up to its trigger
 * would be read as a whole for each of them.
 *
 * @returns the tokens of the context if certainly no compaction is due; null if the whole thread must be read
 * @throws LargeJobError if more tokens have to be counted than `sizeMax` allows
 */
export async function growBelowTrigger(
  tx: Tx,
  compaction: Compaction,
  sizeMax: WorkSize | undefined,
): Promise<PruneUsage | null> {
  const { thread, latest, lane } = compaction
  const { threadId, pruneSeq, headSeq, pruneUsage: known } = thread
  if (known === null || known.lane !== lane.key || known.stateId !== (latest?.id ?? null)) return null
  if (headSeq - pruneSeq > GROWTH_MESSAGES_MAX) return null
  const page = { threadId, afterSeq: pruneSeq, limit: headSeq - pruneSeq }
  const added = page.limit === 0 ? [] : await loadMessagesBySeq(tx, page)
  const uncounted = added.filter(({ tokensExact }) => !tokensExact)
  const tokensUncounted = uncounted.reduce((sum, { tokens }) => sum + tokens, 0)
  refuseLargeJob({ messages: uncounted.length, tokens: tokensUncounted }, sizeMax)
  const counted = asSent(await withExactTokens(tx, threadId, added), compaction)
  const tokens = usageBelowTrigger(known.tokens, counted, latest && toCompactionState(latest), lane)
  return tokens === null ? null : { ...known, tokens }
}
