import type { FileEvent } from '@heddle/contracts'
import type { Iteration } from './iteration.js'
import type { ProgressState } from './progress.js'

/** The run of a thread that works in iterations (docs/iterations.md). */
export interface LoopContext {
  /** The goal of the thread; null where none was told. */
  readonly goal: string | null
  /** The newest iterations that no summary covers, by number, their texts cut as contexts show them. */
  readonly iterations: readonly Iteration[]
  /** The summary of older ones; null where there is none yet. */
  readonly summary: ProgressState | null
  /** Iterations since the last clear, whether they are in `iterations`, covered, or neither. */
  readonly totalIterations: number
  /** ISO 8601; null before the first iteration, unless it was told. */
  readonly startTime: string | null
  readonly currentCli: string | null
  readonly currentModel: string | null
  readonly envSnapshot: Readonly<Record<string, string>>
  readonly fileEvents: readonly FileEvent[]
}
