import { createHash } from 'node:crypto'
import type { ContextResult } from '@heddle/contracts'
import { fingerprint } from '../conversation/fingerprint.js'
import { elementsOf, headOf } from './elements.js'

/** Fingerprints of the messages and entries that several contexts share, by their objects. */
export type ElementDigests = WeakMap<object, string>

/** The first byte of a digest of elements. Earlier digests are of the whole JSON, and have no such byte. */
const FORM = 1
const DIGEST_BYTES = 16

/**
 * Identifies the JSON of a context byte for byte. It is made of the digests of its elements, so that the next context of a
 * growing thread costs no more than its new elements.
 */
export function contextDigest(result: ContextResult, known: ElementDigests = new WeakMap()): Uint8Array {
  const hashed = createHash('sha256')
  hashed.update(JSON.stringify([result.id, headOf(result)]))
  hashed.update(
    elementsOf(result)
      .map((element) => elementDigest(element, known))
      .join(''),
  )
  return Buffer.concat([Buffer.from([FORM]), hashed.digest().subarray(0, DIGEST_BYTES)])
}

export function isDigestOf(digest: Uint8Array, result: ContextResult): boolean {
  const made = digest.length === DIGEST_BYTES ? jsonDigest(JSON.stringify(result)) : contextDigest(result)
  return Buffer.compare(digest, made) === 0
}

function jsonDigest(json: string): Uint8Array {
  return createHash('sha256').update(json).digest().subarray(0, DIGEST_BYTES)
}

function elementDigest(element: unknown, known: ElementDigests): string {
  if (typeof element !== 'object' || element === null) return fingerprint(JSON.stringify(element))
  const before = known.get(element)
  if (before !== undefined) return before
  const digest = fingerprint(JSON.stringify(element))
  known.set(element, digest)
  return digest
}
