import { PermanentError, type SelectionLimits, type SelectionTypes } from '@heddle/contracts'
import {
  type Candidate,
  calibratedScore,
  chunkText,
  cosineOfQuantized,
  hasRemadeVectors,
  hybridScore,
  itemText,
  quantizeVector,
  type Selection,
  selectByType,
  type TextEmbedder,
  wordScores,
} from '@heddle/core'
import type { Store } from '../store.js'
import type { ItemRow } from './item-reading.js'
import { embedItems } from './item-vectors.js'

export interface RelevanceQuery {
  readonly store: Store
  readonly embedder: TextEmbedder
  readonly projectId: string
  readonly items: readonly ItemRow[]
  /** The query in the user's words. */
  readonly query: string
  readonly limits: SelectionLimits & { readonly wordShare: number; readonly types: SelectionTypes }
  /** Whether vectors of new and changed items are stored. Default true. */
  readonly isKept?: boolean | undefined
  readonly signal?: AbortSignal
}

/** Chunks of a query that are searched: the beginning of a pasted log identifies its subject. */
const QUERY_CHUNKS_MAX = 8
/** Characters of a query whose words are compared. */
const WORDS_CHARACTERS_MAX = 4_000

/**
 * Finds those of some items that match a query, by vectors and by words (docs/items.md#selection).
 * New and changed items are embedded first, in one call of
 * the embedder, and their vectors stored; then the query.
 *
 * @throws errors of the embedder; PermanentError `INTERNAL` if its vectors have unexpected dimensions
 */
export async function relevantItems(options: RelevanceQuery): Promise<Selection<ItemRow>> {
  const { store, projectId, items, query, limits, isKept, signal } = options
  const embedder = checkedEmbedder(options.embedder)
  const { model, dimensions } = embedder
  const given = items.map((item) => ({ itemId: item.itemId, text: itemText(item) }))
  const { items: embedded } = await embedItems({
    store,
    embedder,
    projectId,
    items: given,
    isKept,
    ...(signal && { signal }),
  })
  const texts = chunkText(query)
    .slice(0, QUERY_CHUNKS_MAX)
    .map(({ text }) => text)
  const asked = texts.length === 0 ? [] : (await embedder.embed(texts, signal)).map(quantizeVector)
  // Vectors of the hashing embedder are made of words, which would count twice.
  const wordShare = hasRemadeVectors(model) ? 0 : limits.wordShare
  const words =
    wordShare === 0
      ? []
      : wordScores(
          query.slice(0, WORDS_CHARACTERS_MAX),
          given.map(({ text }) => text),
        )
  const candidates = items.map((item, index): Candidate<ItemRow> => {
    const { vectors = new Int8Array() } = embedded[index] ?? {}
    const chunks = Array.from({ length: Math.floor(vectors.length / dimensions) }, (_, at) =>
      vectors.subarray(at * dimensions, (at + 1) * dimensions),
    )
    const scores = chunks.map((chunk) => nearestOf(asked, chunk, model))
    return { item, chunkScores: scores.map((score) => hybridScore(score, words[index] ?? 0, wordShare)) }
  })
  return selectByType(candidates, limits, limits.types)
}

function nearestOf(asked: readonly Int8Array[], chunk: Int8Array, model: string): number {
  return Math.max(0, ...asked.map((vector) => calibratedScore(model, cosineOfQuantized(vector, chunk))))
}

/** Checks the length of vectors: wrong ones would be stored, and never be comparable. */
function checkedEmbedder(embedder: TextEmbedder): TextEmbedder {
  const { model, dimensions } = embedder
  return {
    model,
    dimensions,
    async embed(texts, signal) {
      const vectors = await embedder.embed(texts, signal)
      const other = vectors.find(({ length }) => length !== dimensions)
      if (vectors.length === texts.length && other === undefined) return vectors
      throw new PermanentError(
        'INTERNAL',
        other === undefined
          ? `the embedder ${model} gave ${vectors.length} vectors for ${texts.length} texts`
          : `the embedder ${model} returned a vector of ${other.length} dimensions instead of ${dimensions}`,
        { hint: 'choose another embedding model' },
      )
    },
  }
}
