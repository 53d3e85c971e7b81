/** Vectors one after another. */
export function joinedVectors(vectors: readonly Int8Array[]): Uint8Array {
  return Buffer.concat(vectors.map(bytesOf))
}

/** Bytes as a text parameter, which Postgres decodes. */
export function base64(bytes: Uint8Array): string {
  return bytesOf(bytes).toString('base64')
}

/** The same memory, not a copy. */
function bytesOf({ buffer, byteOffset, byteLength }: Uint8Array | Int8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
