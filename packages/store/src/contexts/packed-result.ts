import type { ContextResult } from '@heddle/contracts'
import { deflateJson, digestOf, inflateJson } from '../sql/packing.js'

/** The stored form of a result, besides its lines. */
export interface PackedResult {
  /** The delivered bytes; null if they are sent with the reply, and rebuilt from the lines for later readers. */
  readonly bytes: Uint8Array | null
  /** Verifies that a rebuilt result is the same byte for byte. */
  readonly digest: Uint8Array
}

/** A result as JSON, packed with its bytes: see {@link digestResult} for one without. */
export async function packJson(json: string): Promise<{ readonly bytes: Uint8Array; readonly digest: Uint8Array }> {
  return { bytes: await deflateJson(json), digest: digestOf(json) }
}

export function packResult(result: ContextResult): Promise<PackedResult> {
  return packJson(JSON.stringify(result))
}

/** A result as JSON, of which only the lines are stored. */
export function digestResult(json: string): PackedResult {
  return { bytes: null, digest: digestOf(json) }
}

export async function unpackResult(bytes: Uint8Array): Promise<ContextResult> {
  return (await inflateJson(bytes)) as ContextResult
}
