import type { ContextResult } from '@heddle/contracts'
import { contextDigest } from '@heddle/core'
import { deflateJson, inflateJson } from '../sql/packing.js'

/** The stored form of a result, besides its lines. */
export interface PackedResult {
  /** The delivered bytes; null if they are sent with the reply, and rebuilt from the lines for later readers. */
  readonly bytes: Uint8Array | null
  /** Verifies that a rebuilt result is the same byte for byte. */
  readonly digest: Uint8Array
}

export async function packResult(result: ContextResult): Promise<PackedResult> {
  return { bytes: await packJson(JSON.stringify(result)), digest: contextDigest(result) }
}

/** The delivered bytes of a result as JSON. */
export function packJson(json: string): Promise<Uint8Array> {
  return deflateJson(json)
}

export async function unpackResult(bytes: Uint8Array): Promise<ContextResult> {
  return (await inflateJson(bytes)) as ContextResult
}
