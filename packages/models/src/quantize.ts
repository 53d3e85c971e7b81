/**
 * Vectors are stored as one signed byte a dimension. Each element is rounded by at most half a step, so the cosine of two
 * vectors of unit length is off by some thousandths: less than the gaps between neighbours in a search.
 */
const SCALE = 127

/** A vector of unit length as bytes: each element times 127, rounded. */
export function quantizeVector(vector: Float32Array): Int8Array {
  const quantized = new Int8Array(vector.length)
  for (let index = 0; index < vector.length; index++) quantized[index] = Math.round((vector[index] ?? 0) * SCALE)
  return quantized
}

/** A quantized vector from the bytes under which it is stored: the same memory, not a copy. */
export function vectorFromBytes(bytes: Uint8Array): Int8Array {
  return new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Cosine of two quantized vectors of one length, from -1 to 1; 0 where one of them is zero. */
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
