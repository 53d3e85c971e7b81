import { limits, type SearchLegs } from '@heddle/contracts'
import {
  byRelevance,
  documentFilter,
  explainWords,
  fuseLegs,
  type NearDocument,
  type RankedDocument,
  type Ranking,
  rankWords,
  searchQuery,
  type VectorWeights,
  vectorWeightsOf,
  type WordExplanation,
  type WordQuery,
  weightOf,
} from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import type { VectorComparison } from '../vectors/vector-search.js'
import { readGround, type SearchConditions, type SearchGround, type SearchParts } from './search-scope.js'
import { searchVectors, type VectorLeg } from './search-vectors.js'
import { loadPostedThreads } from './word-search.js'

/** Messages that each ranking returns if most of them may be excluded by conditions that it ignores, such as a time. */
const CANDIDATES_MAX = 5_000
/** The same if nearly all ranked messages may be shown. */
const CANDIDATES_SHOWN_MAX = 1_000 + limits.pageItemsMax
/** Nearest messages by vectors that count in that case. */
const NEAREST = 200

export interface RankingRequest {
  readonly query: string
  readonly conditions: SearchConditions
  readonly by: SearchLegs
  /** Whether later conditions exclude most of the ranked messages. */
  readonly isNarrowed: boolean
  /** Whether messages are scored and ordered by the share of the query that they match: see `byRelevance`. */
  readonly isJudged?: boolean
  /** Whether the newest messages are found by words that the embed stage has not reached. Default: true. */
  readonly withUnindexed?: boolean
  /** Milliseconds that vectors may take, at most the configured timeout; after it the result is ranked by words alone. */
  readonly vectorsTimeoutMs?: number
}

/** Messages of a scope, ranked for a query. */
export interface MessageRanking {
  /** Null for all agents. */
  readonly agentId: string | null
  readonly terms: ReadonlySet<string>
  /** The best first. */
  readonly documents: readonly RankedDocument[]
  /** Threads by the numbers in `documents`. */
  readonly threadIds: ReadonlyMap<number, string>
  /** Of a search of one fork: its id; else null. */
  readonly forkId: string | null
  /** The postings of messages that are in no segment yet. */
  readonly unindexed: ReadonlyMap<string, Uint8Array>
  /** False if the scope has more postings than one search reads. */
  readonly isRead: boolean
  /** False if more messages were found than are ranked. */
  readonly isRanked: boolean
  readonly model: string | null
  /** How vectors were compared; null if they were not. */
  readonly comparedBy: VectorComparison | null
  readonly degraded: string | null
  /** Why documents have their scores, in their order. */
  readonly explain: (documents: readonly RankedDocument[]) => Promise<RankExplanation[]>
}

export interface RankExplanation {
  /** Null if words were not searched. */
  readonly words: WordExplanation | null
  /** Null if vectors were not compared, or have no weight in this search. */
  readonly vectors: {
    /** Null for a message that is not among the nearest; those beside it may be. */
    readonly cosine: number | null
    /** The part of the score that comes from similarity. */
    readonly score: number
  } | null
}

/** Ranks the messages of a scope by words and by vectors. All searches use this ranking. */
export async function rankMessages(
  parts: SearchParts,
  {
    query,
    conditions,
    by,
    isNarrowed,
    isJudged = false,
    withUnindexed = true,
    vectorsTimeoutMs = Number.POSITIVE_INFINITY,
  }: RankingRequest,
): Promise<MessageRanking> {
  const { store, projectId } = parts
  const searched = searchQuery(query, parts.clock.nowMs())
  const reading = readGround(parts, {
    conditions,
    query: searched,
    withUnindexed: withUnindexed && by !== 'meaning',
  })
  const vectorLeg = {
    ground: reading,
    timeoutMsMax: vectorsTimeoutMs,
    limit: isNarrowed ? CANDIDATES_MAX : NEAREST,
    isNeeded: (model: string, of: SearchGround) => by === 'meaning' || weightOf(vectorWeights(model, of), of) > 0,
  }
  const searching = by === 'words' ? wordsOnly : searchVectors(parts, query, vectorLeg)
  // It fails with the error of `reading`, which is awaited first.
  searching.catch(() => {})
  const ground = await reading
  const words =
    by === 'meaning'
      ? nothingRanked
      : await runCooperatively(
          rankWords({ ...ground.query, limit: isNarrowed ? CANDIDATES_MAX : CANDIDATES_SHOWN_MAX }),
        )
  const { documents: vectors, model, comparedBy, degraded } = await searching
  const near = { vectors, neighbours: ground.settings.words.neighbours, isWanted: documentFilter(ground.query.only) }
  const weights = vectorWeights(model, ground)
  const ranked = fuseLegs(by, {
    ...near,
    model,
    words: words.documents,
    unknownShare: ground.unknownShare,
    weights,
  })
  const documents = isJudged
    ? await runCooperatively(
        byRelevance({ documents: ranked, query: ground.query, model, vectors: weights.always > 0 ? vectors : [] }),
      )
    : ranked
  const threadIds = new Map(ground.threadIds)
  const unknown = new Set(documents.map(({ thread }) => thread).filter((thread) => !threadIds.has(thread)))
  if (unknown.size > 0) {
    const threads = await store.inProject(projectId, (tx) => loadPostedThreads(tx, unknown))
    for (const { number, threadId } of threads) threadIds.set(number, threadId)
  }
  return {
    agentId: ground.agentId,
    terms: new Set(searched.terms),
    documents,
    threadIds,
    forkId: ground.forkId,
    unindexed: ground.unindexed,
    isRead: ground.isComplete,
    isRanked: words.found <= words.documents.length,
    model,
    comparedBy,
    degraded: by === 'words' ? null : degraded,
    explain: (explained) =>
      explainRanking(explained, {
        query: by === 'meaning' ? null : { ...ground.query, limit: 0 },
        words: words.documents,
        vectors: model !== null && (by === 'meaning' || weightOf(weights, ground) > 0) ? vectors : null,
      }),
  }
}

async function explainRanking(
  documents: readonly RankedDocument[],
  given: {
    readonly query: WordQuery | null
    readonly words: readonly RankedDocument[]
    readonly vectors: readonly NearDocument[] | null
  },
): Promise<RankExplanation[]> {
  const explained = given.query === null ? [] : await runCooperatively(explainWords(given.query, documents))
  const isAt = (place: RankedDocument) => (each: { readonly thread: number; readonly seq: number }) =>
    each.thread === place.thread && each.seq === place.seq
  return documents.map((document, index) => {
    const ofWords = given.words.find(isAt(document))?.score ?? 0
    const cosine = given.vectors?.find(isAt(document))?.cosine ?? null
    return {
      words: explained[index] ?? null,
      vectors: given.vectors === null ? null : { cosine, score: document.score - ofWords },
    }
  })
}

const nothingRanked: Ranking = { documents: [], found: 0 }
const wordsOnly: Promise<VectorLeg> = Promise.resolve({
  documents: [],
  model: null,
  comparedBy: null,
  degraded: null,
})

function vectorWeights(model: string | null, { settings }: SearchGround): VectorWeights {
  const { always, unknownWords } = settings.vectors
  const fitting = model === null ? { always: 0, unknownWords: 0 } : vectorWeightsOf(model)
  return { always: always ?? fitting.always, unknownWords: unknownWords ?? fitting.unknownWords }
}
