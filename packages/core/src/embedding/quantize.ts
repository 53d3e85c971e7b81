/**
 * Vectors are stored as one signed byte per dimension. Each is scaled so that its largest element is 127, which rounds
 * every element by at most half a step: a cosine is then off by about a thousandth, less than the gaps between
 * neighbors in a search. The scale is not stored, because a cosine divides by both lengths.
 */
const LARGEST = 127

/** A vector as bytes: its direction, not its length. A zero vector stays zero. */
export function quantizeVector(vector: Float32Array): Int8Array {
  let largest = 0
  for (let index = 0; index < vector.length; index++) largest = Math.max(largest, Math.abs(vector[index] ?? 0))
  const quantized = new Int8Array(vector.length)
  if (largest === 0) return quantized
  const scale = LARGEST / largest
  for (let index = 0; index < vector.length; index++) quantized[index] = Math.round((vector[index] ?? 0) * scale)
  return quantized
}

/** Wraps the stored bytes as a quantized vector, without a copy. */
export function vectorFromBytes(bytes: Uint8Array): Int8Array {
  return new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Cosine of two quantized vectors of one length, from -1 to 1; 0 if one of them is zero. */
export function cosineOfQuantized(left: Int8Array, right: Int8Array): number {
  let dot = 0
  let leftSquare = 0
  let rightSquare = 0
  for (let index = 0; index < left.length; index++) {
    const a = left[index] ?? 0
    const b = right[index] ?? 0
    dot += a * b
    leftSquare += a * a
    rightSquare += b * b
  }
  return dot === 0 ? 0 : dot / Math.sqrt(leftSquare * rightSquare)
}
