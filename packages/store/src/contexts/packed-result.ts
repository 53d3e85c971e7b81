import type { ContextResult } from '@heddle/contracts'
import { contextDigest } from '@heddle/core'
import { deflateJson, digestOf, inflateJson } from '../sql/packing.js'

/** The digests of a result in its row, one of which verifies that a rebuilt result is the same byte for byte. */
export interface ResultDigests {
  /** Of the JSON. */
  readonly digest: Uint8Array | null
  /**
   * Of its elements, if only its differences are sent: its JSON need not be made. In a column of its own, because readers of
   * earlier versions compare `digest` with that of the JSON. They show such a context without this check.
   */
  readonly elementDigest: Uint8Array | null
}

/** The stored form of a result, besides its lines. */
export interface PackedResult extends ResultDigests {
  /** The delivered bytes; null if they are sent with the reply, and rebuilt from the lines for later readers. */
  readonly bytes: Uint8Array | null
}

/** A result as JSON, packed with its bytes: see {@link digestResult} for one without. */
export async function packJson(json: string): Promise<PackedResult & { readonly bytes: Uint8Array }> {
  return { ...digestResult(json), bytes: await deflateJson(json) }
}

export function packResult(result: ContextResult): Promise<PackedResult> {
  return packJson(JSON.stringify(result))
}

/** A result as JSON, of which only the lines are stored. */
export function digestResult(json: string): PackedResult {
  return { bytes: null, digest: digestOf(json), elementDigest: null }
}

/** A result that is sent as its differences from another, with its digest by `contextDigest`. */
export function digestPatched(digest: string): PackedResult {
  return { bytes: null, digest: null, elementDigest: Buffer.from(digest, 'hex') }
}

/** Whether a rebuilt result is the same as the stored one. Contexts of early versions have no digest. */
export function isResult({ digest, elementDigest }: ResultDigests, result: ContextResult): boolean {
  if (digest !== null && Buffer.compare(digest, digestOf(JSON.stringify(result))) !== 0) return false
  return elementDigest === null || Buffer.from(elementDigest).toString('hex') === contextDigest(result)
}

export async function unpackResult(bytes: Uint8Array): Promise<ContextResult> {
  return (await inflateJson(bytes)) as ContextResult
}
