import { eachPosting, INSTRUCTION_TERM } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { loadSharedRuns } from '../forks/lineage.js'
import type { HitPlace } from './search-hits.js'
import { findPostedThreads, findWords, loadPostedThreads } from './word-search.js'

/** Messages with a lasting instruction that are considered, of the latest threads first. */
const PLACES_MAX = 500

/**
 * The places of the messages of an agent's threads that have a lasting instruction, of the latest threads first.
 *
 * @param threadIds those that count; null for all
 */
export async function loadInstructionPlaces(
  tx: Tx,
  { agentId, threadIds }: { agentId: string | null; threadIds: readonly string[] | null },
): Promise<HitPlace[]> {
  const { lists } = await findWords(tx, { agentId, terms: [INSTRUCTION_TERM] })
  const wanted =
    threadIds && new Set((await findPostedThreads(tx, await withOrigins(tx, threadIds))).map(({ number }) => number))
  const found: { thread: number; seq: number }[] = []
  eachPosting(lists.get(INSTRUCTION_TERM) ?? [], ({ thread, seq }) => {
    if (wanted === null || wanted.has(thread)) found.push({ thread, seq })
  })
  found.sort((left, right) => right.thread - left.thread || right.seq - left.seq)
  const kept = found.slice(0, PLACES_MAX)
  const threads = await loadPostedThreads(tx, new Set(kept.map(({ thread }) => thread)))
  const idOf = new Map(threads.map(({ number, threadId }) => [number, threadId]))
  return kept.flatMap(({ thread, seq }) => {
    const threadId = idOf.get(thread)
    return threadId === undefined ? [] : [{ threadId, seq }]
  })
}

async function withOrigins(tx: Tx, threadIds: readonly string[]): Promise<string[]> {
  const runs = await Promise.all(threadIds.map((threadId) => loadSharedRuns(tx, threadId)))
  return [...new Set([...threadIds, ...runs.flat().map(({ originId }) => originId)])]
}
