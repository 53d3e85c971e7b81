import { PermanentError, type SelectionLimits } from '@heddle/contracts'
import {
  type Candidate,
  calibratedScore,
  chunkText,
  cosineOfQuantized,
  itemText,
  quantizeVector,
  type Selection,
  selectItems,
  type TextEmbedder,
} from '@heddle/core'
import type { Store } from '../store.js'
import type { ItemRow } from './item-reading.js'
import { embedItems } from './item-vectors.js'

export interface RelevanceQuery {
  readonly store: Store
  readonly embedder: TextEmbedder
  readonly projectId: string
  readonly items: readonly ItemRow[]
  /** What is asked, in the user's words. */
  readonly query: string
  readonly limits: SelectionLimits
  readonly signal?: AbortSignal
}

/** Chunks of a query that are looked for: the beginning of a pasted log says what it is about as well as all of it. */
const QUERY_CHUNKS_MAX = 8

/**
 * Those of some items that a query is about (docs/embedding.md). Items without vectors, and those that changed, are embedded first,
 * all in one call of the embedder, and kept; then the query.
 *
 * @throws whatever the embedder throws; PermanentError `INTERNAL` where its vectors are not what it says
 */
export async function relevantItems(options: RelevanceQuery): Promise<Selection<ItemRow>> {
  const { store, projectId, items, query, limits, signal } = options
  const embedder = checkedEmbedder(options.embedder)
  const { model, dimensions } = embedder
  const given = items.map((item) => ({ itemId: item.itemId, text: itemText(item) }))
  const { items: embedded } = await embedItems({ store, embedder, projectId, items: given, ...(signal && { signal }) })
  const texts = chunkText(query)
    .slice(0, QUERY_CHUNKS_MAX)
    .map(({ text }) => text)
  const asked = texts.length === 0 ? [] : (await embedder.embed(texts, signal)).map(quantizeVector)
  const candidates = items.map((item, index): Candidate<ItemRow> => {
    const { vectors = new Int8Array() } = embedded[index] ?? {}
    const chunks = Array.from({ length: Math.floor(vectors.length / dimensions) }, (_, at) =>
      vectors.subarray(at * dimensions, (at + 1) * dimensions),
    )
    return { item, chunkScores: chunks.map((chunk) => nearestOf(asked, chunk, model)) }
  })
  return selectItems(candidates, limits)
}

function nearestOf(asked: readonly Int8Array[], chunk: Int8Array, model: string): number {
  return Math.max(0, ...asked.map((vector) => calibratedScore(model, cosineOfQuantized(vector, chunk))))
}

/** Vectors of another length than the embedder says would be kept as they are, and be compared with nothing afterwards. */
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
          : `the embedder ${model} gave a vector of ${other.length} dimensions, and says that it has ${dimensions}`,
        { hint: 'choose another embedding model' },
      )
    },
  }
}
