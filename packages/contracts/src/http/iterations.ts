import { z } from 'zod'
import { turnsSchema } from '../contexts/contexts.js'
import { limits } from '../primitives/limits.js'
import { idSchema, nameSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { fileEventSchema, iterationInputSchema } from '../threads/iterations.js'
import { isoTimeSchema, named, pageSchema, tooMany } from './common.js'
import { appendedSchema } from './messages.js'

export const iterationsBodySchema = named(
  'IterationsBody',
  z.strictObject({
    agent: nameSchema,
    ack: z.enum(['queued', 'stored'], { error: 'must be queued or stored' }).optional(),
    iterations: z
      .array(named('Iteration', iterationInputSchema.extend({ id: idSchema.optional() })))
      .min(1)
      .max(limits.httpListItemsMax, tooMany('iterations')),
  }),
)

export const iterationsAppendedSchema = named(
  'IterationsAppended',
  appendedSchema.omit({ warnings: true }).extend({
    /** The number of each, in their order; empty with `ack: queued`, since a number is given when it is stored. */
    iterationNumbers: z.array(z.int()),
  }),
)
export type AppendIterationsResult = OutputOf<typeof iterationsAppendedSchema>

export const iterationEntrySchema = named(
  'IterationEntry',
  z.object({
    id: idSchema,
    /** The reference by which its output is recalled; null of an iteration that an early version stored without one. */
    reference: z.string().nullable(),
    iterationNumber: z.int(),
    timestamp: isoTimeSchema,
    cliUsed: z.string().nullable(),
    modelUsed: z.string().nullable(),
    prompt: z.string(),
    output: z.string(),
    progressScore: z.number().nullable(),
    progressMarkers: z.array(z.string()),
    fileChanges: z.array(z.string()),
    fileEvents: z.array(fileEventSchema),
    durationSeconds: z.number().nullable(),
  }),
)
/** An iteration with its complete texts; contexts show the beginnings of them (docs/iterations.md). */
export type IterationEntry = OutputOf<typeof iterationEntrySchema>
export const iterationPageSchema = named('IterationPage', pageSchema(iterationEntrySchema))

const runSummarySchema = z.object({
  text: z.string(),
  /** Number of iterations it covers, and the numbers of the first and the last of them. */
  coveredCount: z.int(),
  coveredFrom: z.int(),
  coveredTo: z.int(),
  tokens: z.int(),
  /** Counts from 1; earlier versions are kept. */
  version: z.int(),
  summarizer: z.string(),
  createdAt: isoTimeSchema,
})
/** The summary of a run's older iterations. */
export type RunSummary = OutputOf<typeof runSummarySchema>

export const runStateSchema = named(
  'RunState',
  z.object({
    /** The goal of the thread, or null. */
    goal: z.string().nullable(),
    /**
     * Iterations that the summary does not cover, oldest first, with the beginnings of their texts; at most the newest
     * 400.
     */
    iterations: z.array(iterationEntrySchema),
    /** Null before the first iteration leaves the window, or while its summary is not made yet. */
    summary: runSummarySchema.nullable(),
    /** Number of iterations since the last clear, whether they are in `iterations`, covered, or neither. */
    totalIterations: z.int(),
    turns: turnsSchema,
    /** Null before the first iteration, unless it was set. */
    startTime: z.string().nullable(),
    currentCli: z.string().nullable(),
    currentModel: z.string().nullable(),
    envSnapshot: z.record(z.string(), z.string()),
    fileEvents: z.array(fileEventSchema),
  }),
)
/** A run: its iterations, its summary and its environment (docs/iterations.md). */
export type RunState = OutputOf<typeof runStateSchema>
