/** Numbers from 0 to 1, without 1: the same ones for the same seed. */
export function chances(seed: number): () => number {
  let state = seed % 2_147_483_648
  const next = () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
  // The first number of neighbouring seeds would be much the same.
  next()
  return next
}

/** A whole number from `from` to `to`, both included. */
export function wholeNumber(chance: () => number, from: number, to: number): number {
  return from + Math.floor(chance() * (to - from + 1))
}
