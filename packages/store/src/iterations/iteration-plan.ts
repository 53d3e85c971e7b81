import { ConflictError, type IterationInput } from '@heddle/contracts'

/** An iteration with its derived fields. */
export interface PreparedIteration {
  readonly input: IterationInput
  readonly happenedAtMs: number
  /** `iterationFingerprint` of the input: distinguishes a repeat from a conflict. */
  readonly fingerprint: string
}

/** A stored iteration with one of the given ids or numbers. */
export interface KnownIteration {
  readonly id: string
  readonly number: number
  readonly fingerprint: string
}

export interface IterationPlan {
  readonly fresh: readonly (PreparedIteration & { readonly number: number })[]
  /** The number of each given iteration, in their order. */
  readonly numbers: readonly number[]
}

/**
 * Decides which iterations are new, and assigns numbers to those without one: each the next after the highest. Pure.
 *
 * @throws ConflictError if an id is used by another iteration, or a number by another id; positions in errors count from
 *   `firstIndex`, the position of the first iteration in the caller's list
 */
export function planIterations(
  iterations: readonly PreparedIteration[],
  { known, highest, firstIndex }: { known: readonly KnownIteration[]; highest: number; firstIndex: number },
): IterationPlan {
  const byId = new Map(known.map((each) => [each.id, each]))
  const byNumber = new Map(known.map((each) => [each.number, each.id]))
  const fresh: (PreparedIteration & { number: number })[] = []
  let latest = highest
  const numbers = iterations.map((iteration, index) => {
    const { id, iterationNumber } = iteration.input
    const same = byId.get(id)
    if (same) {
      const isRepeat =
        same.fingerprint === iteration.fingerprint && (iterationNumber === undefined || iterationNumber === same.number)
      if (isRepeat) return same.number
      throw taken(
        `iterations.${firstIndex + index}.id`,
        id,
        `iteration id ${id} is used by another iteration of this thread`,
      )
    }
    const number = iterationNumber ?? latest + 1
    if (byNumber.has(number)) {
      const what = `iteration ${number} of this thread is another iteration`
      throw taken(`iterations.${firstIndex + index}.iterationNumber`, String(number), what)
    }
    latest = Math.max(latest, number)
    byId.set(id, { id, number, fingerprint: iteration.fingerprint })
    byNumber.set(number, id)
    fresh.push({ ...iteration, number })
    return number
  })
  return { fresh, numbers }
}

function taken(field: string, received: string, what: string): ConflictError {
  return new ConflictError(what, {
    field,
    received,
    hint: 'Give each iteration its own id and number, or omit both; a repeat must be equal in every field.',
  })
}
