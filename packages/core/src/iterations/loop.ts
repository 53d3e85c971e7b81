import type { FileEvent } from '@heddle/contracts'
import type { Iteration } from './iteration.js'
import type { ProgressState } from './progress.js'

/** The iterations before the current window, for wider ones. */
export interface EarlierIterations {
  /** The newest that the summary in force covers, by number. */
  readonly iterations: readonly Iteration[]
  /** Regenerated versions that cover fewer iterations than the summary in force, newest first. */
  readonly summaries: readonly (ProgressState & { readonly id: string })[]
}

/** The run of a thread that works in iterations (docs/iterations.md). */
export interface LoopContext {
  readonly goal: string | null
  /** The newest iterations that no summary covers, by number, their texts cut as contexts show them. */
  readonly iterations: readonly Iteration[]
  /** The summary of older ones; null before the first summary. */
  readonly summary: ProgressState | null
  /** For windows that adapt. Default: no earlier iterations. */
  readonly earlier?: EarlierIterations
  /** Number of iterations since the last clear, whether they are in `iterations`, covered, or neither. */
  readonly totalIterations: number
  /** ISO 8601; null before the first iteration, unless it was set. */
  readonly startTime: string | null
  readonly currentCli: string | null
  readonly currentModel: string | null
  readonly envSnapshot: Readonly<Record<string, string>>
  readonly fileEvents: readonly FileEvent[]
}
