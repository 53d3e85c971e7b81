import { momentMs, parse, type SearchKind, type SearchRequest, searchRequestSchema, toolKinds } from '@heddle/contracts'
import { formatReference, kindOfRole, kindsOf, kindTerm } from '@heddle/core'
import { type FoundRow, findMessages, findWords, type HitRow, loadHits } from '@heddle/store'
import type { ClientParts } from '../setup/options.js'
import { type Excerpts, showHits } from './search-texts.js'

/** A message that a search found. `client.recall` brings all of it back by its `ref`. */
export interface SearchHit extends Excerpts {
  readonly messageId: string
  readonly sourceId: string | null
  readonly thread: string
  readonly ref: string
  readonly kind: SearchKind
  /** Higher is better; scores of two searches cannot be compared. */
  readonly score: number
  /** The message's place in time, as ISO 8601. */
  readonly at: string
}

export interface SearchResult {
  /** The best first. */
  readonly items: readonly SearchHit[]
  /** Whether all that may meet the conditions was looked at; narrower ones, such as a thread, help where it was not. */
  readonly isComplete: boolean
  /** The model of the vectors that took part in the ranking; null where words alone did. */
  readonly model: string | null
  /**
   * How vectors were compared: `exact`, one by one in the memory of a process, or by the index of `pgvector`, which may miss
   * some of what is near; null where words alone ranked.
   */
  readonly comparedBy: 'exact' | 'pgvector' | null
  /** Why vectors took no part though they were wanted, or only in part; null where nothing is amiss. */
  readonly degraded: string | null
}

/**
 * Finds messages by words and by vectors, best first: in one thread, in the threads of an agent, or in the whole project.
 * What was said around a message counts, too, so a hit may hold none of the words; `before` and `after` show its neighbours.
 * Messages can be found once the embed stage has met them, a moment after they were stored. Where vectors cannot be
 * searched, words alone answer, and `degraded` says why.
 *
 * @throws PermanentError `VALIDATION_ERROR`; `NOT_FOUND` for an agent or a thread that is not there
 */
export async function search(parts: ClientParts, request: SearchRequest): Promise<SearchResult> {
  const wanted = parse(searchRequestSchema, request, 'search')
  const { query, by } = wanted
  const { since, until, limit } = wanted
  const nowMs = parts.clock.nowMs()
  const conditions = {
    sinceMs: since === undefined ? null : momentMs(since, nowMs),
    untilMs: until === undefined ? null : momentMs(until, nowMs),
  }
  const { rows, ranking, isComplete } = await findMessages(parts, {
    query,
    by,
    conditions: wanted,
    isNarrowed: since !== undefined || until !== undefined,
    limit,
    load: (tx, places) => loadHits(tx, { places, conditions }),
  })
  const [kinds, texts] = await Promise.all([
    findKinds(parts, ranking.agentId, rows),
    showHits(parts, rows, ranking.terms),
  ])
  return {
    items: rows.map(({ row, document }, index) => ({
      messageId: row.messageId,
      sourceId: row.sourceId,
      thread: row.threadName,
      ref: formatReference({ project: parts.project, thread: row.threadCode, message: row.code }),
      kind: kinds[index] ?? 'other',
      score: document.score,
      at: new Date(row.orderedAtMs).toISOString(),
      ...(texts[index] ?? { text: '', before: null, after: null }),
    })),
    isComplete,
    model: ranking.model,
    comparedBy: ranking.comparedBy,
    degraded: ranking.degraded,
  }
}

/** What hits are: a role says it of all but results, which postings know by their tools. */
async function findKinds(
  { store, projectId }: ClientParts,
  agentId: string | null,
  hits: readonly FoundRow<HitRow>[],
): Promise<SearchKind[]> {
  const hasResults = hits.some(({ row }) => row.role === 'tool_result')
  const { lists } = hasResults
    ? await store.inProject(projectId, (tx) => findWords(tx, { agentId, terms: toolKinds.map(kindTerm) }))
    : { lists: new Map<string, readonly Uint8Array[]>() }
  const ofTools = kindsOf(
    hits.map(({ document }) => document),
    new Map(toolKinds.map((kind) => [kind, lists.get(kindTerm(kind)) ?? []])),
  )
  return hits.map(({ row: { role } }, index) =>
    role === 'tool_result' ? (ofTools[index] ?? 'other') : kindOfRole(role),
  )
}
