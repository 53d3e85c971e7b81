import { type FileEvent, type IterationInput, limits } from '@heddle/contracts'
import { z } from 'zod'

/** An iteration to be appended; without an id it gets one, and is then one of its own each time it is appended. */
export type NewIteration = Omit<IterationInput, 'id'> & { readonly id?: string }

export interface AppendIterationsOptions {
  readonly agent: string
  readonly thread: string
  readonly iterations: readonly NewIteration[]
}

export interface AppendIterationsResult {
  readonly threadId: string
  readonly stored: number
  /** Iterations that were there before. */
  readonly repeated: number
  /** The number of each iteration, in their order. */
  readonly iterationNumbers: readonly number[]
}

export const listOptionsSchema = z.strictObject({
  /** The number of the last iteration of the page before. */
  cursor: z.string().optional(),
  /** @deprecated The name that `cursor` had. */
  after: z.string().optional().meta({ deprecated: true }),
  limit: z.int().min(1).max(limits.pageItemsMax).default(50),
  order: z.enum(['asc', 'desc'], { error: 'must be asc or desc' }).default('asc'),
})

export type ListIterationsOptions = z.input<typeof listOptionsSchema>

/** An iteration with its whole texts; contexts show the beginnings of them (docs/iterations.md). */
export interface IterationEntry {
  readonly id: string
  readonly iterationNumber: number
  readonly timestamp: string
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

/** The summary of a loop's older iterations. */
export interface LoopSummary {
  readonly text: string
  /** How many iterations it covers, and the numbers of the first and the last of them. */
  readonly coveredCount: number
  readonly coveredFrom: number
  readonly coveredTo: number
  readonly tokens: number
  /** Counts from 1; versions before it are kept. */
  readonly version: number
  readonly summarizer: string
  readonly createdAt: string
}

/** A run: its iterations, its summary and what it knows (docs/iterations.md). */
export interface LoopContext {
  /** The goal of the thread; null where none was told. */
  readonly goal: string | null
  /** Those that the summary does not cover, oldest first, with the beginnings of their texts; at most the newest 400. */
  readonly iterations: readonly IterationEntry[]
  /** Null where no iteration has left the window, or the summary is still to be made. */
  readonly summary: LoopSummary | null
  /** Iterations since the last clear, whether they are in `iterations`, covered, or neither. */
  readonly totalIterations: number
  /** ISO 8601; null before the first iteration, unless it was told. */
  readonly startTime: string | null
  readonly currentCli: string | null
  readonly currentModel: string | null
  readonly envSnapshot: Readonly<Record<string, string>>
  readonly fileEvents: readonly FileEvent[]
}
