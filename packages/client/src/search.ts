import { momentMs, parse, type SearchKind, type SearchRequest, searchRequestSchema, toolKinds } from '@heddle/contracts'
import { formatReference, kindOfRole, kindsOf, kindTerm } from '@heddle/core'
import { findWords, type HitRow, loadHits } from '@heddle/store'
import type { z } from 'zod'
import type { ClientParts } from './options.js'
import { type MessageRanking, rankMessages } from './ranking.js'
import { type Excerpts, type FoundPlace, showHits } from './search-texts.js'

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
  /** Why vectors took no part though they were wanted, or only in part; null where nothing is amiss. */
  readonly degraded: string | null
}

/** Messages that are checked at once where a time leaves most of them out. */
const CANDIDATES_PER_PAGE = 500

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
  const ranking = await rankMessages(parts, { query, by, conditions: wanted, isNarrowed: isTimed(wanted) })
  const hits = await checkHits(parts, wanted, ranking)
  const [kinds, texts] = await Promise.all([
    findKinds(parts, ranking.agentId, hits.rows),
    showHits(parts, hits.rows, ranking.terms),
  ])
  return {
    items: hits.rows.map(({ row, document }, index) => ({
      messageId: row.messageId,
      sourceId: row.sourceId,
      thread: row.threadName,
      ref: formatReference({ project: parts.project, thread: row.threadCode, message: row.code }),
      kind: kinds[index] ?? 'other',
      score: document.score,
      at: new Date(row.orderedAtMs).toISOString(),
      ...(texts[index] ?? { text: '', before: null, after: null }),
    })),
    isComplete: ranking.isRead && (ranking.isRanked || hits.isEnough),
    model: ranking.model,
    degraded: ranking.degraded,
  }
}

type Wanted = z.output<typeof searchRequestSchema>

function isTimed({ since, until }: Wanted): boolean {
  return since !== undefined || until !== undefined
}

/** What hits are: a role says it of all but results, which postings know by their tools. */
async function findKinds(
  { store, projectId }: ClientParts,
  agentId: string | null,
  hits: readonly FoundPlace[],
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

interface Checked {
  readonly rows: readonly FoundPlace[]
  /** Whether as many were found as were asked for. */
  readonly isEnough: boolean
}

/** The best of the ranked documents that stand and meet what postings do not know, such as a time. */
async function checkHits(
  { store, projectId, clock }: ClientParts,
  wanted: Wanted,
  { documents: ranked, threadIds }: MessageRanking,
): Promise<Checked> {
  const { since, until, limit } = wanted
  const nowMs = clock.nowMs()
  const conditions = {
    sinceMs: since === undefined ? null : momentMs(since, nowMs),
    untilMs: until === undefined ? null : momentMs(until, nowMs),
  }
  const rows: FoundPlace[] = []
  const perPage = isTimed(wanted) ? CANDIDATES_PER_PAGE : 2 * limit
  for (let from = 0; from < ranked.length && rows.length < limit; from += perPage) {
    const documents = ranked.slice(from, from + perPage)
    const places = documents.map(({ thread, seq }) => ({ threadId: threadIds.get(thread) ?? NO_THREAD, seq }))
    const loaded: HitRow[] = await store.inProject(projectId, (tx) => loadHits(tx, { places, conditions }))
    for (const row of loaded) {
      const [document, place] = [documents[row.place], places[row.place]]
      if (document !== undefined && place !== undefined) rows.push({ row, document, place })
    }
  }
  return { rows: rows.slice(0, limit), isEnough: rows.length >= limit }
}

/** No thread has it: a thread that was erased while it was looked for. */
const NO_THREAD = '00000000-0000-0000-0000-000000000000'
