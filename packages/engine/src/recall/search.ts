import type { SearchResult } from '@heddle/client/interface'
import { momentMs, parse, type SearchKind, type SearchRequest, searchRequestSchema, toolKinds } from '@heddle/contracts'
import { comparedResults, formatReference, kindOfRole, kindsOf, kindTerm, momentOf } from '@heddle/core'
import {
  type FoundRow,
  findMessages,
  findWords,
  type HitRow,
  listsOfTerm,
  loadHits,
  type MessageRanking,
} from '@heddle/store'
import { isoTime } from '../setup/iso-time.js'
import type { EngineContext } from '../setup/options.js'
import { keepOfRange } from './moment-range.js'
import { orderHits } from './ordered-hits.js'
import { rerank } from './rerank.js'
import { showHits } from './search-texts.js'

/**
 * Finds messages by words and by vectors, best first: in one thread, in the threads of an agent, or in the whole project.
 * The messages around a message count, too, so a hit may contain none of the words; `before` and `after` show its neighbours.
 * Messages are found by their words at once, and by meaning after the embed stage has indexed them. If vectors cannot be searched,
 * the search uses only words, and `degraded` holds the reason. A configured reranker orders the first results again.
 *
 * @throws PermanentError `VALIDATION_ERROR`; `NOT_FOUND` for an unknown agent or thread
 */
export async function search(parts: EngineContext, request: SearchRequest): Promise<SearchResult> {
  const wanted = parse(searchRequestSchema, request, 'search')
  const { query, by } = wanted
  const { since, until, from, to, limit } = wanted
  const nowMs = parts.clock.nowMs()
  const conditions = {
    sinceMs: since === undefined ? null : momentMs(since, nowMs),
    untilMs: until === undefined ? null : momentMs(until, nowMs),
  }
  const range = {
    fromMs: from === undefined ? null : momentMs(from, nowMs),
    toMs: to === undefined ? null : momentMs(to, nowMs),
  }
  const isOfRange = from !== undefined || to !== undefined
  const { rows, ranking, isComplete } = await findMessages(parts, {
    query,
    by,
    conditions: wanted,
    isNarrowed: since !== undefined || until !== undefined || isOfRange,
    limit: Math.max(limit, comparedResults(query), parts.reranker?.candidates ?? 0),
    async load(tx, places) {
      const found = await loadHits(tx, { places, conditions })
      return isOfRange ? await keepOfRange(tx, found, { places, range }) : found
    },
  })
  const reranking = await rerank(parts, query, { rows, terms: ranking.terms })
  const hits = (await orderHits(parts, query, reranking.rows)).slice(0, limit)
  const [kinds, texts, explanations] = await Promise.all([
    findKinds(parts, ranking, hits),
    showHits(parts, hits, ranking.terms),
    wanted.explain ? ranking.explain(hits.map(({ document }) => document)) : [],
  ])
  const items = hits.map(({ row, document, score, supersededBy, rule, reranked }, index) => ({
    messageId: row.messageId,
    seq: row.seq,
    sourceId: row.sourceId,
    thread: row.threadName,
    ref: formatReference({ project: parts.project, thread: row.threadCode, message: row.code }),
    kind: kinds[index] ?? 'other',
    score,
    at: isoTime(row.orderedAtMs),
    moment: isoTime(momentOf(texts[index]?.named ?? [], row.orderedAtMs, range)),
    supersededBy,
    explanation: wanted.explain
      ? { words: null, vectors: null, ...explanations[index], score: document.score, reranked, rule }
      : null,
    ...(texts[index]?.excerpts ?? { text: '', before: null, after: null }),
  }))
  return {
    items: wanted.sort === 'time' ? inTime(items) : items,
    isComplete,
    model: ranking.model,
    comparedBy: ranking.comparedBy,
    rerankedBy: reranking.model,
    degraded: reasonOf(ranking.degraded, reranking.degraded),
  }
}

function reasonOf(...reasons: readonly (string | null)[]): string | null {
  const given = reasons.filter((reason) => reason !== null)
  return given.length === 0 ? null : given.join('; ')
}

/** The best results in the order of their moments; of equal ones, the one said earlier first. */
function inTime<Hit extends { readonly moment: string; readonly at: string }>(items: readonly Hit[]): Hit[] {
  return [...items].sort(
    (left, right) => Date.parse(left.moment) - Date.parse(right.moment) || Date.parse(left.at) - Date.parse(right.at),
  )
}

/** The kinds of hits: by role, except for results, whose kind is in the postings. */
async function findKinds(
  { store, projectId }: EngineContext,
  { agentId, unindexed }: Pick<MessageRanking, 'agentId' | 'unindexed'>,
  hits: readonly FoundRow<HitRow>[],
): Promise<SearchKind[]> {
  const hasResults = hits.some(({ row }) => row.role === 'tool_result')
  const found = hasResults
    ? await store.inProject(projectId, (tx) => findWords(tx, { agentId, terms: toolKinds.map(kindTerm) }))
    : { lists: new Map<string, readonly Uint8Array[]>() }
  const ofTools = kindsOf(
    hits.map(({ document }) => document),
    new Map(toolKinds.map((kind) => [kind, listsOfTerm(kindTerm(kind), found, unindexed)])),
  )
  return hits.map(({ row: { role } }, index) =>
    role === 'tool_result' ? (ofTools[index] ?? 'other') : kindOfRole(role),
  )
}
