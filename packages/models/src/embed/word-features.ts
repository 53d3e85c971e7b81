import { detached } from '@heddle/core'
import { stemOf, wordWeight } from './words.js'

export const DIMENSIONS = 384

/** A stem is spread over this many dimensions, so that two words seldom fall together. */
const PLACES_OF_STEM = 4

/** Length of a word's parts, counted with a mark at either end of the word. */
const PART_CHARACTERS = 4

/** A word's parts together weigh this much beside its stem. */
const PARTS_WEIGHT = 0.4

/** Longer words are hashes and base64, whose parts have no meaning. */
const PARTS_OF_WORD_CHARACTERS_MAX = 32

const FEATURES_MAX = PLACES_OF_STEM + PARTS_OF_WORD_CHARACTERS_MAX + 2 - PART_CHARACTERS + 1

/** Caches words, because texts repeat them and hashing them again would take most of the time. About 4 MB when full. */
const CACHED_WORDS_MAX = 20_000
const CACHED_FEATURES_MAX = 400_000

/**
 * The features of words, side by side in two arrays: an object for each word would be read from all over the memory, which
 * takes most of the time where a search makes vectors again. When it is full, all words go: those that are frequent are back
 * soon.
 */
class Generation {
  readonly numbers = new Map<string, number>()
  /** Where the features of a word begin; its last one is before those of the next. */
  readonly starts = new Uint32Array(CACHED_WORDS_MAX + 1)
  /** Twice the dimension of a feature, and 1 if it is positive. */
  readonly features = new Uint16Array(CACHED_FEATURES_MAX)
  /** The weight of each feature of a word's stem, then of its parts. */
  readonly weights = new Float32Array(2 * CACHED_WORDS_MAX)

  get isFull(): boolean {
    const count = this.numbers.size
    return count === CACHED_WORDS_MAX || (this.starts[count] as number) + FEATURES_MAX > CACHED_FEATURES_MAX
  }

  add(word: string): number {
    const number = this.numbers.size
    let at = this.starts[number] as number
    const partCount = word.length > PARTS_OF_WORD_CHARACTERS_MAX ? 0 : Math.max(0, word.length + 3 - PART_CHARACTERS)
    const stemHash = hashOf(stemOf(word), FNV_START)
    for (let index = 0; index < PLACES_OF_STEM; index++) {
      this.features[at++] = featureOf(mix(stemHash + Math.imul(index, GOLDEN)))
    }
    for (let from = 0; from < partCount; from++) this.features[at++] = featureOf(mix(hashOfPart(word, from)))
    const weight = wordWeight(word)
    this.weights[2 * number] = weight / Math.sqrt(PLACES_OF_STEM)
    this.weights[2 * number + 1] = partCount === 0 ? 0 : (weight * PARTS_WEIGHT) / Math.sqrt(partCount)
    this.starts[number + 1] = at
    this.numbers.set(detached(word), number)
    return number
  }
}

export class WordFeatures {
  #young = new Generation()

  /** Adds a word that occurs `count` times to a sum. */
  addTo(sums: Float64Array, word: string, count: number): void {
    let number = this.#young.numbers.get(word)
    if (number === undefined) {
      if (this.#young.isFull) this.#young = new Generation()
      number = this.#young.add(word)
    }
    const { starts, features, weights } = this.#young
    const repeated = count === 1 ? 1 : 1 + Math.log(count)
    const stemWeight = (weights[2 * number] as number) * repeated
    const partWeight = (weights[2 * number + 1] as number) * repeated
    const from = starts[number] as number
    const to = starts[number + 1] as number
    for (let at = from; at < to; at++) {
      const feature = features[at] as number
      const weight = at < from + PLACES_OF_STEM ? stemWeight : partWeight
      const place = feature >> 1
      sums[place] = (sums[place] as number) + (feature & 1 ? weight : -weight)
    }
  }
}

function featureOf(hash: number): number {
  return (((hash >>> 1) % DIMENSIONS) << 1) | (hash & 1)
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

/** The hash of a part of `<word>`. */
function hashOfPart(word: string, from: number): number {
  let hash = FNV_START ^ PART_CHARACTERS
  for (let at = from; at < from + PART_CHARACTERS; at++) {
    const unit = at === 0 ? OPENING : at > word.length ? CLOSING : word.charCodeAt(at - 1)
    hash = Math.imul(hash ^ unit, FNV_PRIME)
  }
  return hash
}

const OPENING = '<'.charCodeAt(0)
const CLOSING = '>'.charCodeAt(0)

/** Murmur's finalizer, because the lowest bits of FNV depend only on the lowest bits of the characters. */
function mix(hash: number): number {
  let mixed = hash ^ (hash >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
