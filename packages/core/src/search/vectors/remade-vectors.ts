/** Names of hashing embedders, which have the length of their vectors in them: `heddle-hashing-384-v1`. */
const HASHING = /(?:^|[-/])hashing(?:-(\d+))?(?:[-/]|$)/

/** Whether a model counts words and knows no meanings. */
export function isHashingModel(model: string): boolean {
  return HASHING.test(model)
}

/**
 * Whether the vectors of a model are not stored, but made again from the texts by the process that compares them: see
 * docs/decisions/2026-11-24-hashed-vectors-are-not-stored.md.
 */
export function hasRemadeVectors(model: string): boolean {
  return isHashingModel(model)
}

/** The length of vectors that are not stored; 0 where the name of the model does not say. */
export function remadeDimensions(model: string): number {
  return Number(HASHING.exec(model)?.[1] ?? 0)
}
