import { hash } from 'node:crypto'
import type { MessagePartInput, StoredPart } from '@heddle/contracts'
import { measurePart } from './measure.js'

/** A part as it is stored, and its bytes, which are stored separately. */
export interface PartToStore {
  readonly part: StoredPart
  /** Null for a URL or a provider's file. */
  readonly bytes: Buffer | null
}

/** Measured properties override the client's claims. */
export function partToStore({ data, ...given }: MessagePartInput): PartToStore {
  if (data === undefined) return { part: given, bytes: null }
  const bytes = Buffer.from(data, 'base64')
  const sha256 = hash('sha256', bytes, 'hex')
  return { part: { ...given, ...measurePart(given.type, bytes), sha256, bytes: bytes.length }, bytes }
}
