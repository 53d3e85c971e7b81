import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Span } from '../json/spans.js'
import type { Entry } from './entry.js'
import type { Protocol } from './protocol.js'

/** The reading of the first bytes of a body. */
export interface KnownPrefix {
  /** The fields before the list of the conversation, with their values. */
  readonly fields: readonly (readonly [string, Span])[]
  /** Position of the list. */
  readonly list: number
  /** The entries that end within the prefix; at least one. */
  readonly entries: readonly Entry[]
}

/** Bytes after the last step are read anew. */
const STEP_BYTES = 32 * 1024
/** About two hundred conversations of 600 KB each. */
const PREFIXES_MAX = 4_000

interface Kept extends KnownPrefix {
  /** Entries of the whole body; the first `count` of them end within the prefix. */
  readonly count: number
}

/**
 * Beginnings of bodies, by their hashes. A conversation is sent again with every request, and most of its bytes are those of
 * the request before: hashing them is many times faster than reading them.
 */
export class KnownPrefixes {
  readonly #kept = new LRUCache<string, Kept>({ max: PREFIXES_MAX })
  readonly #stepBytes: number

  /** @param stepBytes distance between the ends of the beginnings that are kept */
  constructor(stepBytes = STEP_BYTES) {
    this.#stepBytes = stepBytes
  }

  /** The longest known beginning of a body, and the hashes under which more of it may be kept. */
  find(
    protocol: Protocol,
    body: Uint8Array,
  ): { readonly known: KnownPrefix | null; readonly hashes: readonly string[] } {
    const hashes = hashesOf(protocol, body, this.#stepBytes)
    for (let step = hashes.length - 1; step >= 0; step--) {
      const kept = this.#kept.get(hashes[step] as string)
      if (kept !== undefined) return { known: { ...kept, entries: kept.entries.slice(0, kept.count) }, hashes }
    }
    return { known: null, hashes }
  }

  /** Keeps the reading of a whole body. */
  add(hashes: readonly string[], read: KnownPrefix): void {
    let count = 0
    for (const [step, hash] of hashes.entries()) {
      const end = (step + 1) * this.#stepBytes
      while (count < read.entries.length && (read.entries[count] as Entry).to <= end) count++
      if (count > 0 && !this.#kept.has(hash)) this.#kept.set(hash, { ...read, count })
    }
  }
}

/** Hashes of the beginnings of a body that end at each step: each is of the one before and of the bytes after it. */
function hashesOf(protocol: Protocol, body: Uint8Array, stepBytes: number): string[] {
  const hashes: string[] = []
  let before: string = protocol
  for (let end = stepBytes; end <= body.length; end += stepBytes) {
    const bytes = hash('sha256', body.subarray(end - stepBytes, end), 'base64url')
    before = hash('sha256', `${before} ${bytes}`, 'base64url')
    hashes.push(before)
  }
  return hashes
}
