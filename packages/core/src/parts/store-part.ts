import { hash } from 'node:crypto'
import type { MessagePartInput, StoredPart } from '@heddle/contracts'
import { measurePart } from './measure.js'

/** A part as it is stored, and the bytes that are stored beside it. */
export interface PartToStore {
  readonly part: StoredPart
  /** Null where it is an address or a provider's file. */
  readonly bytes: Buffer | null
}

/** What the bytes say about themselves wins over what was claimed. */
export function partToStore({ data, ...given }: MessagePartInput): PartToStore {
  if (data === undefined) return { part: given, bytes: null }
  const bytes = Buffer.from(data, 'base64')
  const sha256 = hash('sha256', bytes, 'hex')
  return { part: { ...given, ...measurePart(given.type, bytes), sha256, bytes: bytes.length }, bytes }
}
