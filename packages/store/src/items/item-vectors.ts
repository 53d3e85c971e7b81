import { createHash } from 'node:crypto'
import {
  type ChunkPlace,
  chunkText,
  packPlaces,
  quantizeVector,
  type TextEmbedder,
  unpackPlaces,
  vectorFromBytes,
} from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'
import type { Store } from '../store.js'
import { base64, joinedVectors } from '../vectors/vector-bytes.js'

/** The vectors of an item's text. */
export interface ItemVectors {
  readonly itemId: string
  /** Ranges of the text; the vector of `places[i]` is the i-th of equal parts of `vectors`. */
  readonly places: readonly ChunkPlace[]
  readonly vectors: Int8Array
}

export interface EmbeddableItem {
  readonly itemId: string
  /** The result of `itemText` of core. */
  readonly text: string
}

interface StoredItemVectors extends ItemVectors, Columns<'itemVectors', 'contentHash' | 'chunkHashes'> {}

export interface EmbedItemsOptions {
  readonly store: Store
  readonly embedder: TextEmbedder
  readonly projectId: string
  readonly items: readonly EmbeddableItem[]
  /** Whether made vectors are stored. Default true. */
  readonly isKept?: boolean | undefined
  readonly signal?: AbortSignal
}

/**
 * The vectors of some items, just in time (docs/embedding.md): missing and outdated ones are embedded in one call of the
 * embedder, and stored. Only the new chunks of a changed item are embedded.
 *
 * @returns the vectors in the given order, and the number of embedded texts
 * @throws errors of the embedder; nothing is stored then
 */
export async function embedItems(options: EmbedItemsOptions): Promise<{ items: ItemVectors[]; embeddedTexts: number }> {
  const { store, embedder, projectId, items, isKept = true, signal } = options
  const { model, dimensions } = embedder
  const itemIds = items.map(({ itemId }) => itemId)
  const known = await store.inProject(projectId, (tx) => loadStored(tx, { model, itemIds }))
  const changed = items
    .filter(({ itemId, text }) => !isSame(known.get(itemId)?.contentHash, hashOf(text, CONTENT_HASH_BYTES)))
    .map((item) => planItem(item, known.get(item.itemId), dimensions))
  const texts = [
    ...new Set(changed.flatMap(({ chunks }) => chunks.flatMap(({ text, vector }) => (vector ? [] : [text])))),
  ]
  const fresh = texts.length === 0 ? [] : await embedder.embed(texts, signal)
  const vectorOf = new Map(
    texts.map((text, index) => [text, quantizeVector(fresh[index] ?? new Float32Array(dimensions))]),
  )
  const made = changed.map(({ itemId, contentHash, chunks }) => ({
    itemId,
    contentHash,
    places: chunks.map(({ place }) => place),
    chunkHashes: Buffer.concat(chunks.map(({ hash }) => hash)),
    vectors: chunks.map(({ text, vector }) => vector ?? vectorOf.get(text) ?? new Int8Array(dimensions)),
  }))
  if (isKept && made.length > 0)
    await store.inProject(projectId, (tx) => replaceItemVectors(tx, { model, items: made }))
  const madeById = new Map(made.map((item) => [item.itemId, item]))
  return {
    embeddedTexts: texts.length,
    items: itemIds.map((itemId) => {
      const { places, vectors } = madeById.get(itemId) ?? known.get(itemId) ?? { places: [], vectors: new Int8Array() }
      return {
        itemId,
        places,
        vectors: vectors instanceof Int8Array ? vectors : vectorFromBytes(joinedVectors(vectors)),
      }
    }),
  }
}

/** The vectors of some items as last embedded by a model, even if the items have changed since. */
export async function loadItemVectors(
  tx: Tx,
  { model, itemIds }: { model: string; itemIds: readonly string[] },
): Promise<ItemVectors[]> {
  return [...(await loadStored(tx, { model, itemIds })).values()].map(({ itemId, places, vectors }) => ({
    itemId,
    places,
    vectors,
  }))
}

interface PlannedChunk {
  readonly text: string
  readonly place: ChunkPlace
  readonly hash: Buffer
  /** The stored vector of an unchanged chunk. */
  readonly vector: Int8Array | undefined
}

function planItem({ itemId, text }: EmbeddableItem, before: StoredItemVectors | undefined, dimensions: number) {
  const vectorByHash = new Map<string, Int8Array>()
  for (let index = 0; before !== undefined && index < before.places.length; index++) {
    const hash = Buffer.from(before.chunkHashes.subarray(index * CHUNK_HASH_BYTES, (index + 1) * CHUNK_HASH_BYTES))
    vectorByHash.set(hash.toString('hex'), before.vectors.subarray(index * dimensions, (index + 1) * dimensions))
  }
  const chunks = chunkText(text).map((chunk): PlannedChunk => {
    const hash = hashOf(chunk.text, CHUNK_HASH_BYTES)
    const place = { seq: 0, from: chunk.from, to: chunk.to }
    return { text: chunk.text, place, hash, vector: vectorByHash.get(hash.toString('hex')) }
  })
  return { itemId, contentHash: hashOf(text, CONTENT_HASH_BYTES), chunks }
}

const CONTENT_HASH_BYTES = 16
const CHUNK_HASH_BYTES = 8

function hashOf(text: string, bytes: number): Buffer {
  return createHash('sha256').update(text).digest().subarray(0, bytes)
}

function isSame(left: Uint8Array | undefined, right: Uint8Array): boolean {
  return left !== undefined && Buffer.compare(left, right) === 0
}

async function loadStored(
  tx: Tx,
  { model, itemIds }: { model: string; itemIds: readonly string[] },
): Promise<Map<string, StoredItemVectors>> {
  const rows = await tx<Columns<'itemVectors', 'itemId' | 'contentHash' | 'chunkHashes' | 'places' | 'embedding'>[]>`
    select item_id, content_hash, chunk_hashes, places, embedding
    from heddle.item_vectors
    where item_id = any(${asArray(itemIds)}::uuid[]) and model = ${model}`
  return new Map(
    rows.map(({ itemId, contentHash, chunkHashes, places, embedding }) => [
      itemId,
      { itemId, contentHash, chunkHashes, places: unpackPlaces(places), vectors: vectorFromBytes(embedding) },
    ]),
  )
}

/** Vectors of other models are replaced when this model has embedded the item; until then they are not compared with these. */
async function replaceItemVectors(
  tx: Tx,
  {
    model,
    items,
  }: {
    model: string
    items: readonly {
      itemId: string
      contentHash: Uint8Array
      chunkHashes: Uint8Array
      places: readonly ChunkPlace[]
      vectors: readonly Int8Array[]
    }[]
  },
): Promise<void> {
  const rows = items.map(({ itemId, contentHash, chunkHashes, places, vectors }) => ({
    item_id: itemId,
    content_hash: base64(contentHash),
    chunk_hashes: base64(chunkHashes),
    places: base64(packPlaces(places)),
    embedding: base64(joinedVectors(vectors)),
  }))
  await Promise.all([
    tx`
      delete from heddle.item_vectors
      where item_id = any(${asArray(items.map(({ itemId }) => itemId))}::uuid[]) and model <> ${model}`,
    // Items that were erased meanwhile are skipped.
    tx`
      insert into heddle.item_vectors (item_id, model, content_hash, chunk_hashes, places, embedding)
      select
        given.item_id, ${model}, decode(content_hash, 'base64'), decode(chunk_hashes, 'base64'),
        decode(places, 'base64'), decode(embedding, 'base64')
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as given (
        item_id uuid, content_hash text, chunk_hashes text, places text, embedding text)
      join heddle.items on items.id = given.item_id
      order by given.item_id
      on conflict (item_id, model) do update set
        content_hash = excluded.content_hash, chunk_hashes = excluded.chunk_hashes, places = excluded.places,
        embedding = excluded.embedding`,
  ])
}
