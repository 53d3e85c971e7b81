import type { FileEvent } from '@heddle/contracts'
import { sliceWhole } from '../tools/lines.js'

/** One step of an autonomous run (docs/iterations.md), with its whole texts. */
export interface Iteration {
  readonly id: string
  /** The short code of its message, for references; null of one that was stored before iterations had messages. */
  readonly code: string | null
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
