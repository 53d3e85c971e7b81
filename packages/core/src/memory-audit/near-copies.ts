/*
 * Similar texts have most runs of words in common. Each run is hashed once, and the least hash of each of 64 bins stands for the
 * text: the share of equal bins of two texts is about the share of runs that they have in common. Texts are compared only if
 * a group of bins is equal, so that the work grows with the texts and not with their pairs.
 */

const BINS = 64
/** Bins of a group: of texts with .85 of their runs in common, some group of almost all is equal. */
const GROUP_BINS = 8
const RUN_WORDS = 3
/** Characters of a text that are compared. */
export const COMPARED_CHARACTERS_MAX = 4_000
/** Shorter texts have too few runs. */
const WORDS_MIN = 12
const EMPTY = 0xffffffff
export const SIMILARITY_MIN = 0.8

/** The least hashes of a text by bin; null for a short one. Numbers count as equal: two outputs often differ by a time alone. */
export function signatureOf(text: string): Uint32Array | null {
  const words =
    text
      .slice(0, COMPARED_CHARACTERS_MAX)
      .toLowerCase()
      .replace(/\d+/g, '0')
      .match(/[\p{L}\p{N}_]+/gu) ?? []
  if (words.length < WORDS_MIN) return null
  const bins = new Uint32Array(BINS).fill(EMPTY)
  for (let at = 0; at + RUN_WORDS <= words.length; at++) {
    const hash = hashOf(words.slice(at, at + RUN_WORDS).join(' '))
    const bin = hash % BINS
    bins[bin] = Math.min(bins[bin] ?? EMPTY, hash)
  }
  return bins
}

/** Finds texts that are nearly those added before. */
export class NearCopies {
  readonly #groups = new Map<string, Uint32Array>()

  /** @returns whether a similar text was added before; this one is added if not */
  isCopy(signature: Uint32Array): boolean {
    const keys = Array.from({ length: BINS / GROUP_BINS }, (_, group) => {
      const own = signature.subarray(group * GROUP_BINS, (group + 1) * GROUP_BINS)
      // A group without any run is equal in all short texts.
      return own.every((hash) => hash === EMPTY) ? null : `${group} ${own.join(' ')}`
    })
    for (const key of keys) {
      const other = key === null ? undefined : this.#groups.get(key)
      if (other !== undefined && similarity(signature, other) >= SIMILARITY_MIN) return true
    }
    for (const key of keys) if (key !== null && !this.#groups.has(key)) this.#groups.set(key, signature)
    return false
  }
}

function similarity(one: Uint32Array, other: Uint32Array): number {
  let equal = 0
  let filled = 0
  for (let bin = 0; bin < BINS; bin++) {
    if (one[bin] === EMPTY && other[bin] === EMPTY) continue
    filled++
    if (one[bin] === other[bin]) equal++
  }
  return filled === 0 ? 0 : equal / filled
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  // The lower bits of a short text are too alike for bins.
  return (hash ^ (hash >>> 15)) >>> 0
}
