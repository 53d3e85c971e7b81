import type { ContextResult } from '@heddle/contracts'
import { fingerprint } from '../conversation/fingerprint.js'
import { elementsOf, headOf } from './elements.js'

/** Fingerprints of the messages and entries that several contexts share, by their objects. */
export type ElementDigests = WeakMap<object, string>

/**
 * Identifies the JSON of a context byte for byte. It is made of the digests of its elements, so that the next context of a
 * growing thread costs no more than its new elements.
 *
 * @param known digests of elements, to which new ones are added: the elements must not be changed afterwards
 * @returns 128 bits in hexadecimal digits
 */
export function contextDigest(result: ContextResult, known: ElementDigests = new WeakMap()): string {
  const digests = elementsOf(result).map((element) => elementDigest(element, known))
  return fingerprint([JSON.stringify([result.id, headOf(result)]), ...digests].join('\n'))
}

function elementDigest(element: unknown, known: ElementDigests): string {
  if (typeof element !== 'object' || element === null) return fingerprint(JSON.stringify(element))
  const before = known.get(element)
  if (before !== undefined) return before
  const digest = fingerprint(JSON.stringify(element))
  known.set(element, digest)
  return digest
}
