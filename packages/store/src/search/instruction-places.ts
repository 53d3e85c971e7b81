import { eachPosting, INSTRUCTION_TERM, TAKING_BACK_TERM } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { loadSharedRuns } from '../forks/lineage.js'
import type { HitPlace } from './search-hits.js'
import { findPostedThreads, findWords, loadPostedThreads } from './word-search.js'

/** Messages of each kind that are considered, of the latest threads first. */
const PLACES_MAX = 500

/**
 * The places of the messages of an agent's threads that have a lasting instruction, of the latest threads first; then of those that
 * take one back, if `endings` asks for them.
 *
 * @param threadIds those that count; null for all
 */
export async function loadInstructionPlaces(
  tx: Tx,
  {
    agentId,
    threadIds,
    endings = false,
  }: { agentId: string | null; threadIds: readonly string[] | null; endings?: boolean },
): Promise<HitPlace[]> {
  const terms = endings ? [INSTRUCTION_TERM, TAKING_BACK_TERM] : [INSTRUCTION_TERM]
  const { lists } = await findWords(tx, { agentId, terms })
  const wanted =
    threadIds && new Set((await findPostedThreads(tx, await withOrigins(tx, threadIds))).map(({ number }) => number))
  const kept = new Map<string, { readonly thread: number; readonly seq: number }>()
  for (const term of terms) {
    const found: { thread: number; seq: number }[] = []
    eachPosting(lists.get(term) ?? [], ({ thread, seq }) => {
      if (wanted === null || wanted.has(thread)) found.push({ thread, seq })
    })
    found.sort((left, right) => right.thread - left.thread || right.seq - left.seq)
    for (const place of found.slice(0, PLACES_MAX)) kept.set(`${place.thread} ${place.seq}`, place)
  }
  const places = [...kept.values()]
  const threads = await loadPostedThreads(tx, new Set(places.map(({ thread }) => thread)))
  const idOf = new Map(threads.map(({ number, threadId }) => [number, threadId]))
  return places.flatMap(({ thread, seq }) => {
    const threadId = idOf.get(thread)
    return threadId === undefined ? [] : [{ threadId, seq }]
  })
}

async function withOrigins(tx: Tx, threadIds: readonly string[]): Promise<string[]> {
  const runs = await Promise.all(threadIds.map((threadId) => loadSharedRuns(tx, threadId)))
  return [...new Set([...threadIds, ...runs.flat().map(({ originId }) => originId)])]
}
