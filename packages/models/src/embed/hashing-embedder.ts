import { setImmediate } from 'node:timers/promises'
import { detached } from '@heddle/core'
import { LRUCache } from 'lru-cache'
import { checkTexts, type Embedder, embedderClosed, embedderLimits } from './embedder.js'
import { countWords, stemOf, wordWeight } from './words.js'

const DIMENSIONS = 384

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
  const features = createFeatureCache()
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

function embedText(text: string, features: (word: string) => Features): Float32Array {
  const sums = new Float64Array(DIMENSIONS)
  for (const [word, count] of countWords(text)) {
    const { places, weights } = features(word)
    const repeated = 1 + Math.log(count)
    for (let index = 0; index < places.length; index++) {
      const place = places[index] ?? 0
      sums[place] = (sums[place] ?? 0) + (weights[index] ?? 0) * repeated
    }
  }
  let square = 0
  for (let place = 0; place < DIMENSIONS; place++) square += (sums[place] ?? 0) ** 2
  const vector = new Float32Array(DIMENSIONS)
  if (square === 0) {
    // A text without words still needs a direction.
    vector[0] = 1
    return vector
  }
  const scale = 1 / Math.sqrt(square)
  for (let place = 0; place < DIMENSIONS; place++) vector[place] = (sums[place] ?? 0) * scale
  return vector
}

/** What a word adds to a vector: `weights[i]` at dimension `places[i]`. */
interface Features {
  readonly places: Uint16Array
  readonly weights: Float32Array
}

/** Caches words, because texts repeat them and hashing them again would take most of the time. About 10 MB when full. */
const CACHED_WORDS_MAX = 20_000

function createFeatureCache(): (word: string) => Features {
  const cached = new LRUCache<string, Features>({ max: CACHED_WORDS_MAX })
  return (word) => {
    const known = cached.get(word)
    if (known !== undefined) return known
    const features = featuresOf(word)
    if (word.length <= PARTS_OF_WORD_CHARACTERS_MAX) cached.set(detached(word), features)
    return features
  }
}

/** A stem is spread over this many dimensions, so that two words seldom fall together. */
const PLACES_OF_STEM = 4

/** Length of a word's parts, counted with a mark at either end of the word. */
const PART_CHARACTERS = 4

/** A word's parts together weigh this much beside its stem. */
const PARTS_WEIGHT = 0.4

/** Longer words are hashes and base64, whose parts have no meaning. */
const PARTS_OF_WORD_CHARACTERS_MAX = 32

function featuresOf(word: string): Features {
  const weight = wordWeight(word)
  const hashes: number[] = []
  const weights: number[] = []
  const stemHash = hashOf(stemOf(word), FNV_START)
  for (let index = 0; index < PLACES_OF_STEM; index++) {
    hashes.push(mix(stemHash + Math.imul(index, GOLDEN)))
    weights.push(weight / Math.sqrt(PLACES_OF_STEM))
  }
  const marked = `<${word}>`
  const partCount = word.length > PARTS_OF_WORD_CHARACTERS_MAX ? 0 : marked.length - PART_CHARACTERS + 1
  for (let from = 0; from < partCount; from++) {
    hashes.push(mix(hashOf(marked.slice(from, from + PART_CHARACTERS), FNV_START ^ PART_CHARACTERS)))
    weights.push((weight * PARTS_WEIGHT) / Math.sqrt(partCount))
  }
  return {
    places: Uint16Array.from(hashes, (hash) => (hash >>> 1) % DIMENSIONS),
    weights: Float32Array.from(weights, (size, index) => ((hashes[index] ?? 0) & 1 ? size : -size)),
  }
}

const FNV_START = 0x811c9dc5
const FNV_PRIME = 0x01000193
const GOLDEN = 0x9e3779b9

/** FNV-1a over the UTF-16 units. */
function hashOf(text: string, start: number): number {
  let hash = start
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME)
  return hash
}

/** Murmur's finalizer, because the lowest bits of FNV depend only on the lowest bits of the characters. */
function mix(hash: number): number {
  let mixed = hash ^ (hash >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
