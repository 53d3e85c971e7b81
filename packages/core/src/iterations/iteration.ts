import type { FileEvent, IterationInput } from '@heddle/contracts'
import { canonicalJson, fingerprint } from '../conversation/fingerprint.js'
import { sliceWhole } from '../tools/lines.js'

/** One step of an autonomous run (docs/iterations.md), with its whole texts. */
export interface Iteration {
  readonly id: string
  readonly number: number
  readonly happenedAtMs: number
  readonly cliUsed: string | null
  readonly modelUsed: string | null
  readonly prompt: string
  readonly output: string
  readonly progressScore: number | null
  readonly progressMarkers: readonly string[]
  readonly fileChanges: readonly string[]
  readonly fileEvents: readonly FileEvent[]
  readonly durationSeconds: number | null
}

/** Maximum characters of an iteration's texts in a context (docs/iterations.md), in UTF-16 units. */
export const iterationCharacters = { promptMax: 500, outputMax: 5_000 } as const

/**
 * An iteration as contexts show it: the beginnings of its prompt and its output, without half a surrogate pair at the
 * end. The stored texts stay whole.
 */
export function truncateIteration<T extends { readonly prompt: string; readonly output: string }>(iteration: T): T {
  return {
    ...iteration,
    prompt: sliceWhole(iteration.prompt, iterationCharacters.promptMax),
    output: sliceWhole(iteration.output, iterationCharacters.outputMax),
  }
}

/**
 * A hash over the producer's fields except the number, which the store may have assigned: the same id with the same
 * fingerprint is a repeat, with another one a conflict. Two spellings of one instant are the same time.
 */
export function iterationFingerprint({ iterationNumber: _, timestamp, ...given }: IterationInput): string {
  const said = { ...given, ...(timestamp !== undefined && { timestamp: Date.parse(timestamp) }) }
  return fingerprint(canonicalJson(said))
}
