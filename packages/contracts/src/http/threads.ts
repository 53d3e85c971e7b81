import { z } from 'zod'
import { idSchema, nameSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { partialSettingsSchema } from '../settings/settings.js'
import type { FormatName } from '../settings/strategies.js'
import { loopSchema, processBodySchema, threadDetailsSchema } from '../threads/threads.js'
import { flagQuerySchema, isoTimeSchema, named, pageQuerySchema, pageSchema } from './common.js'

export const threadParamsSchema = z.strictObject({ thread: nameSchema })
export const processParamsSchema = z.strictObject({ thread: nameSchema, process: nameSchema })

/** The details of a thread. Fields that are left out stay as they are; null removes one. */
export const threadBodySchema = named(
  'ThreadBody',
  z.strictObject({
    /** The agent that the thread belongs to; both are made where they are missing. */
    agent: nameSchema,
    ...threadDetailsSchema.shape,
  }),
)
export type ThreadBody = z.infer<typeof threadBodySchema>

export const threadDetailsResultSchema = named(
  'ThreadDetails',
  z.object({
    threadId: idSchema,
    name: z.string(),
    agent: z.string(),
    agentId: idSchema,
    /** Each change is a version of its own; 0 where nothing was told about the thread. */
    version: z.int(),
    title: z.string().nullable(),
    goal: z.string().nullable(),
    status: z.string().nullable(),
    settings: partialSettingsSchema,
    loop: loopSchema.nullable(),
  }),
)
/** The details of a thread in one version. */
export type ThreadEntry = z.infer<typeof threadDetailsResultSchema>

const sentTokensShape = {
  neutral: z.int(),
  'openai-chat': z.int(),
  'openai-responses': z.int(),
  anthropic: z.int(),
  'ai-sdk': z.int(),
} satisfies Record<FormatName, z.ZodInt>

const stateSchema = z.object({
  id: idSchema,
  generation: z.int(),
  /** `passed`: a later compaction came before it had its summary; its prunings hold all the same. */
  status: z.enum(['pending', 'passed', 'ready', 'void']),
  strategy: z.string(),
  limitTokens: z.int(),
  coveredCount: z.int(),
  coveredTokens: z.int(),
  summary: z.string().nullable(),
  summaryTokens: z.int(),
  summarizer: z.string().nullable(),
})
export type StateOverview = OutputOf<typeof stateSchema>

export const threadSchema = named(
  'Thread',
  z.object({
    threadId: idSchema,
    name: z.string(),
    code: z.string(),
    agent: z.string(),
    title: z.string().nullable(),
    goal: z.string().nullable(),
    status: z.string().nullable(),
    messages: z.int(),
    /** Messages that a context may show, by kind; `imported` less those that a clear or the window hides. */
    eligible: z.int(),
    imported: z.int(),
    /** Those that a clear or the window hides. */
    hidden: z.object({ outsideWindow: z.int(), beforeClear: z.int() }),
    /** What keeps messages out of contexts, and what to do about it. */
    warnings: z.array(z.string()),
    /** Messages that no context shows, by reason. */
    keptAside: z.record(z.string(), z.int()),
    byRole: z.record(z.string(), z.int()),
    toolCalls: z.int(),
    toolResults: z.int(),
    /** Of the messages that a context may show, all that is sent of them: text, calls and reasoning. */
    tokens: z.int(),
    /** The part of `tokens` that reasoning takes, signatures included. */
    reasoningTokens: z.int(),
    /** Messages whose tokens are estimated so far. */
    uncounted: z.int(),
    /** What all of them take verbatim in each format, within a twentieth. */
    sentTokens: z.object(sentTokensShape),
    headSeq: z.int(),
    /** How far each stage has come. */
    cursors: z.object({ prune: z.int(), summarize: z.int(), embed: z.int() }),
    lastError: z.string().nullable(),
    /** The latest compactions, newest last. */
    states: z.array(stateSchema),
    prunings: z.object({ condense: z.int(), remove: z.int(), stub: z.int(), tokensFreed: z.int() }),
    /** What providers were called for, as long as that is kept. */
    summaryCosts: z.object({
      summaries: z.int(),
      calls: z.int(),
      failedCalls: z.int(),
      inputTokens: z.int(),
      outputTokens: z.int(),
      /** US dollars by list prices; calls of models whose price is not known count nothing, and are told. */
      costUsd: z.number(),
      callsWithoutPrice: z.int(),
    }),
  }),
)
/** The state of a thread: what is stored of it, and how far the pipeline has come. */
export type ThreadOverview = OutputOf<typeof threadSchema>

export const threadSummarySchema = named(
  'ThreadSummary',
  z.object({
    threadId: idSchema,
    name: z.string(),
    code: z.string(),
    agent: z.string(),
    title: z.string().nullable(),
    status: z.string().nullable(),
    messages: z.int(),
    tokensEstimate: z.int(),
    lastMessageAt: isoTimeSchema.nullable(),
    lastError: z.string().nullable(),
    createdAt: isoTimeSchema,
  }),
)
export type ThreadSummary = OutputOf<typeof threadSummarySchema>
export const threadPageSchema = named('ThreadPage', pageSchema(threadSummarySchema))
export const threadsQuerySchema = pageQuerySchema.extend({ agent: nameSchema.optional() })

export const erasureQuerySchema = z.strictObject({
  /** `true`: the name is free once nothing is left, and a new thread may take it. */
  reuse: flagQuerySchema.optional(),
})

export const erasedSchema = named(
  'Erased',
  z.object({
    kind: z.enum(['project', 'agent', 'thread']),
    name: z.string(),
    /** Rows by kind, such as `messages` and `contexts`; also those that an earlier, broken-off request removed. */
    removed: z.record(z.string(), z.int()),
    /** Jobs that this request took from the queues. */
    jobs: z.int(),
    /** Whether all of it is removed; nothing of it is shown any more in either case. */
    finished: z.boolean(),
  }),
)
export type ErasureResult = OutputOf<typeof erasedSchema>
/** What an erasure takes away as a whole. */
export type ErasureKind = ErasureResult['kind']

export const httpProcessBodySchema = named('ProcessBody', processBodySchema)

export const processSchema = named(
  'Process',
  z.object({
    name: z.string(),
    version: z.int(),
    status: z.string(),
    isRunning: z.boolean(),
    endedAt: isoTimeSchema.nullable(),
    updatedAt: isoTimeSchema,
  }),
)
/** The status of a process of a thread. */
export type ThreadProcess = OutputOf<typeof processSchema>
export const processPageSchema = named('ProcessPage', pageSchema(processSchema))
