import type { Embedder } from '@heddle/models'
import { corpusText } from './search-corpus.js'

const TEXTS_AT_ONCE = 500

/** The vectors of the corpus one after another, as the embedder returned them: only the comparison. */
export async function allVectors(
  embedder: Pick<Embedder, 'embed' | 'dimensions'>,
  count: number,
): Promise<Float32Array> {
  const all = new Float32Array(count * embedder.dimensions)
  for (let number = 0; number < count; number += TEXTS_AT_ONCE) {
    const texts = Array.from({ length: Math.min(TEXTS_AT_ONCE, count - number) }, (_, index) =>
      corpusText(number + index),
    )
    for (const [index, vector] of (await embedder.embed(texts)).entries()) {
      all.set(vector, (number + index) * embedder.dimensions)
    }
  }
  return all
}

/** The nearest vector by a plain loop, without the other work of a search. */
export function plainPass(query: Float32Array, vectors: Float32Array): number {
  const dimensions = query.length
  const count = vectors.length / dimensions
  let best = -1
  let bestDot = Number.NEGATIVE_INFINITY
  for (let row = 0, at = 0; row < count; row++) {
    let dot = 0
    // Every element exists, and plain JavaScript would not check that either.
    for (let index = 0; index < dimensions; index++) dot += (query[index] as number) * (vectors[at++] as number)
    if (dot <= bestDot) continue
    best = row
    bestDot = dot
  }
  return best
}
