import type { ContextResult } from '@heddle/contracts'
import { deflateJson, digestOf, inflateJson } from '../sql/packing.js'

/** What is stored of a result besides its lines. */
export interface PackedResult {
  /** The delivered bytes; null where they are brought to who asked, and made again of the lines for all others. */
  readonly bytes: Uint8Array | null
  /** By which what is made again is known to be the same byte for byte. */
  readonly digest: Uint8Array
}

/** A result as JSON, packed with its bytes: see {@link digestResult} for one without. */
export async function packJson(json: string): Promise<{ readonly bytes: Uint8Array; readonly digest: Uint8Array }> {
  return { bytes: await deflateJson(json), digest: digestOf(json) }
}

export function packResult(result: ContextResult): Promise<PackedResult> {
  return packJson(JSON.stringify(result))
}

/** A result as JSON, of which only the lines are kept. */
export function digestResult(json: string): PackedResult {
  return { bytes: null, digest: digestOf(json) }
}

/** The result whose bytes these are. */
export async function unpackResult(bytes: Uint8Array): Promise<ContextResult> {
  return (await inflateJson(bytes)) as ContextResult
}
