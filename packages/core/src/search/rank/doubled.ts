/** The same numbers, with capacity for as many more. */
export function doubled(values: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(2 * values.length)
  larger.set(values)
  return larger
}
