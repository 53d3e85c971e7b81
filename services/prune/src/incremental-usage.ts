import { type Message, usageBelowTrigger } from '@heddle/core'
import { refuseLargeJob, type WorkSize } from '@heddle/queue'
import { type Compaction, estimateNext, loadMessagesBySeq, type Tx, toCompactionState } from '@heddle/store'
import { asSent, withExactTokens } from './counting.js'

/** A longer backlog is read with the whole thread. */
const GROWTH_MESSAGES_MAX = 5_000

/** Tokens of a lane's context at the cursor, under a state. */
export interface KnownUsage {
  readonly tokens: number | null
  readonly stateId: string | null
}

/**
 * The messages after the stage's cursor, counted. Otherwise a thread that grows message by message up to its trigger would
 * be read as a whole for each of them.
 *
 * @returns null if they are many
 * @throws LargeJobError if more tokens have to be counted than `sizeMax` allows
 */
export async function loadAdded(
  tx: Tx,
  { thread }: Compaction,
  sizeMax: WorkSize | undefined,
): Promise<readonly Message[] | null> {
  const { threadId, pruneSeq, headSeq, tokensEstimate } = thread
  if (headSeq - pruneSeq > Math.min(GROWTH_MESSAGES_MAX, sizeMax?.messages ?? GROWTH_MESSAGES_MAX)) return null
  const page = { threadId, afterSeq: pruneSeq, limit: headSeq - pruneSeq }
  if (sizeMax !== undefined && page.limit > 0 && tokensEstimate > sizeMax.tokens)
    refuseLargeJob({ messages: page.limit, tokens: (await estimateNext(tx, page)).tokens }, sizeMax)
  const added = page.limit === 0 ? [] : await loadMessagesBySeq(tx, page)
  const uncounted = added.filter(({ tokensExact }) => !tokensExact)
  const tokensUncounted = uncounted.reduce((sum, { tokens }) => sum + tokens, 0)
  refuseLargeJob({ messages: uncounted.length, tokens: tokensUncounted }, sizeMax)
  return await withExactTokens(tx, threadId, added)
}

/** @returns the tokens of the context with the added messages if certainly no compaction is due; else null */
export function growBelowTrigger(
  compaction: Compaction,
  known: KnownUsage | null,
  added: readonly Message[] | null,
): number | null {
  if (added === null || !isKnown(compaction, known)) return null
  const { latest, lane } = compaction
  return usageBelowTrigger(known.tokens, asSent(added, compaction), latest && toCompactionState(latest), lane)
}

/** Whether a usage is that of the state now in force. */
export function isKnown(
  { latest }: Compaction,
  known: KnownUsage | null,
): known is KnownUsage & { readonly tokens: number } {
  return known !== null && known.tokens !== null && known.stateId === (latest?.id ?? null)
}
