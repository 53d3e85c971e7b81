import type { RankedDocument } from '@heddle/core'
import { traced } from '@heddle/runtime'
import type { Tx } from '../connection/connection.js'
import type { HitPlace } from './search-hits.js'
import { type MessageRanking, type RankingRequest, rankMessages } from './search-ranking.js'
import type { SearchParts } from './search-scope.js'

/** A row that was loaded for a place. */
export interface PlacedRow {
  /** The index in the given places. */
  readonly place: number
}

export interface FindRequest<Row extends PlacedRow> extends RankingRequest {
  readonly limit: number
  /** Loads those of some places, in their order, that exist and meet conditions which the ranking ignores, such as a time. */
  readonly load: (tx: Tx, places: readonly HitPlace[]) => Promise<readonly Row[]>
}

/** A row that a search found, and how it was ranked. */
export interface FoundRow<Row> {
  readonly row: Row
  readonly document: RankedDocument
  readonly place: HitPlace
}

export interface FoundRows<Row> {
  /** The best first. */
  readonly rows: readonly FoundRow<Row>[]
  readonly ranking: MessageRanking
  /** Whether all candidates were checked. */
  readonly isComplete: boolean
}

/** Messages that are checked at once if conditions exclude most of them. */
const CANDIDATES_PER_PAGE = 500

/**
 * The common part of all searches of messages, the archive and memories. It ranks the messages of a scope and returns the
 * best that `load` accepts.
 *
 * @throws PermanentError `NOT_FOUND` for an agent or a thread that does not exist
 */
export function findMessages<Row extends PlacedRow>(
  parts: SearchParts,
  request: FindRequest<Row>,
): Promise<FoundRows<Row>> {
  const attributes = { 'gen_ai.operation.name': 'search_memory', 'gen_ai.memory.store.id': parts.projectId }
  return traced('search_memory', { attributes }, async (span) => {
    const found = await searchMessages(parts, request)
    span.set({
      'gen_ai.memory.record.count': found.rows.length,
      'heddle.search.degraded': found.ranking.degraded !== null,
    })
    return found
  })
}

async function searchMessages<Row extends PlacedRow>(
  parts: SearchParts,
  { limit, load, ...request }: FindRequest<Row>,
): Promise<FoundRows<Row>> {
  const ranking = await rankMessages(parts, request)
  const { documents: ranked, threadIds, forkId } = ranking
  const rows: FoundRow<Row>[] = []
  const perPage = request.isNarrowed ? CANDIDATES_PER_PAGE : 2 * limit
  for (let from = 0; from < ranked.length && rows.length < limit; from += perPage) {
    const documents = ranked.slice(from, from + perPage)
    const places = documents.map(({ thread, seq }): HitPlace => {
      const storedIn = threadIds.get(thread) ?? NO_THREAD
      return { threadId: forkId ?? storedIn, seq, storedIn }
    })
    for (const row of await parts.store.inProject(parts.projectId, (tx) => load(tx, places))) {
      const [document, place] = [documents[row.place], places[row.place]]
      if (document !== undefined && place !== undefined) rows.push({ row, document, place })
    }
  }
  const isEnough = rows.length >= limit
  return { rows: rows.slice(0, limit), ranking, isComplete: ranking.isRead && (ranking.isRanked || isEnough) }
}

/** The id of no thread, in place of a thread that was erased during the search. */
const NO_THREAD = '00000000-0000-0000-0000-000000000000'
