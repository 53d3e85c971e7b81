import type { RankedDocument } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import type { HitPlace } from './search-hits.js'
import { type MessageRanking, type RankingRequest, rankMessages } from './search-ranking.js'
import type { SearchParts } from './search-scope.js'

/** A row of what is searched for, by the index of its place among those that were asked for. */
export interface PlacedRow {
  readonly place: number
}

export interface FindRequest<Row extends PlacedRow> extends RankingRequest {
  /** Rows to find at most. */
  readonly limit: number
  /** Of some places, in their order, those that stand and meet what the ranking does not know, such as a time. */
  readonly load: (tx: Tx, places: readonly HitPlace[]) => Promise<readonly Row[]>
}

/** What a search found at a place, and how it was ranked. */
export interface FoundRow<Row> {
  readonly row: Row
  readonly document: RankedDocument
  readonly place: HitPlace
}

export interface FoundRows<Row> {
  /** The best first. */
  readonly rows: readonly FoundRow<Row>[]
  readonly ranking: MessageRanking
  /** Whether all that may meet the conditions was looked at. */
  readonly isComplete: boolean
}

/** Messages that are checked at once where conditions leave most of them out. */
const CANDIDATES_PER_PAGE = 500

/**
 * The engine of all searches over what was said: of messages, of the archive, and of memories. It ranks the messages of a
 * scope and gives those of the best that `load` lets through.
 *
 * @throws PermanentError `NOT_FOUND` for an agent or a thread that is not there
 */
export async function findMessages<Row extends PlacedRow>(
  parts: SearchParts,
  { limit, load, ...request }: FindRequest<Row>,
): Promise<FoundRows<Row>> {
  const ranking = await rankMessages(parts, request)
  const { documents: ranked, threadIds } = ranking
  const rows: FoundRow<Row>[] = []
  const perPage = request.isNarrowed ? CANDIDATES_PER_PAGE : 2 * limit
  for (let from = 0; from < ranked.length && rows.length < limit; from += perPage) {
    const documents = ranked.slice(from, from + perPage)
    const places = documents.map(({ thread, seq }) => ({ threadId: threadIds.get(thread) ?? NO_THREAD, seq }))
    for (const row of await parts.store.inProject(parts.projectId, (tx) => load(tx, places))) {
      const [document, place] = [documents[row.place], places[row.place]]
      if (document !== undefined && place !== undefined) rows.push({ row, document, place })
    }
  }
  const isEnough = rows.length >= limit
  return { rows: rows.slice(0, limit), ranking, isComplete: ranking.isRead && (ranking.isRanked || isEnough) }
}

/** No thread has it: a thread that was erased while it was looked for. */
const NO_THREAD = '00000000-0000-0000-0000-000000000000'
