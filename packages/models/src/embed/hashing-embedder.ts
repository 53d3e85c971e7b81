import { setImmediate } from 'node:timers/promises'
import { checkTexts, type Embedder, embedderClosed, embedderLimits } from './embedder.js'
import { DIMENSIONS, WordFeatures } from './word-features.js'
import { countWords } from './words.js'

/** Changes with anything that changes vectors: texts embedded by an earlier version are not comparable. */
export const HASHING_MODEL = 'heddle-hashing-384-v1'

/** Characters embedded before yielding to other work: about 5 ms. */
const TURN_CHARACTERS_MAX = 65_536

/**
 * An embedder that needs no model, no network and no thread: a text is the weighted sum of the stems of its words and of
 * their four-letter parts, each hashed to dimensions and signs (signed feature hashing), at unit length. So texts are near
 * each other that share words, word stems or parts of identifiers; synonyms are not found.
 */
export function createHashingEmbedder(): Embedder {
  const features = new WordFeatures()
  let isClosed = false
  return {
    model: HASHING_MODEL,
    dimensions: DIMENSIONS,
    async embed(texts, signal) {
      checkTexts(texts)
      const vectors: Float32Array[] = []
      let turnCharacters = 0
      for (const text of texts) {
        signal?.throwIfAborted()
        if (isClosed) throw embedderClosed(HASHING_MODEL)
        const read = text.slice(0, embedderLimits.textCharactersMax)
        vectors.push(embedText(read, features))
        turnCharacters += read.length
        if (turnCharacters < TURN_CHARACTERS_MAX) continue
        turnCharacters = 0
        await setImmediate()
      }
      if (isClosed) throw embedderClosed(HASHING_MODEL)
      return vectors
    },
    async close() {
      isClosed = true
    },
  }
}

function embedText(text: string, features: WordFeatures): Float32Array {
  const sums = new Float64Array(DIMENSIONS)
  for (const [word, count] of countWords(text)) features.addTo(sums, word, count)
  let square = 0
  for (let place = 0; place < DIMENSIONS; place++) square += (sums[place] as number) ** 2
  const vector = new Float32Array(DIMENSIONS)
  if (square === 0) {
    // A text without words still needs a direction.
    vector[0] = 1
    return vector
  }
  const scale = 1 / Math.sqrt(square)
  for (let place = 0; place < DIMENSIONS; place++) vector[place] = (sums[place] as number) * scale
  return vector
}
