import { z } from 'zod'
import { turnsSchema } from '../contexts/contexts.js'
import { limits } from '../primitives/limits.js'
import { idSchema, nameSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { partialSettingsSchema } from '../settings/settings.js'
import type { FormatName } from '../settings/strategies.js'
import { loopSchema, processBodySchema, threadDetailsSchema } from '../threads/threads.js'
import { flagQuerySchema, isoTimeSchema, named, pageQuerySchema, pageSchema } from './common.js'

export const threadParamsSchema = z.strictObject({ thread: nameSchema })
export const processParamsSchema = z.strictObject({ thread: nameSchema, process: nameSchema })

/** The details of a thread. Missing fields are unchanged; null removes one. */
export const threadBodySchema = named(
  'ThreadBody',
  z.strictObject({
    /** The thread's agent; thread and agent are created if they do not exist. */
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
    /** Incremented by each change; 0 if the thread has no details yet. */
    version: z.int(),
    title: z.string().nullable(),
    goal: z.string().nullable(),
    status: z.string().nullable(),
    settings: partialSettingsSchema,
    loop: loopSchema.nullable(),
  }),
)
export type ThreadEntry = z.infer<typeof threadDetailsResultSchema>

const cursorsSchema = z.object({
  prune: z.int(),
  summarize: z.int(),
  embed: z.int(),
  remember: z.int().nullable(),
})

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
  /** `passed`: superseded by a later compaction before its summary was made; its prunings are still in force. */
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
    /** Messages that a context may show, by kind: `imported` minus those hidden by a clear or the window. */
    eligible: z.int(),
    imported: z.int(),
    hidden: z.object({ outsideWindow: z.int(), beforeClear: z.int() }),
    /** Reasons why messages are not in contexts, with advice. */
    warnings: z.array(z.string()),
    /** Messages that no context shows, by reason. */
    keptAside: z.record(z.string(), z.int()),
    byRole: z.record(z.string(), z.int()),
    toolCalls: z.int(),
    toolResults: z.int(),
    /** Tokens of the messages that a context may show: text, calls and reasoning. */
    tokens: z.int(),
    /** The part of `tokens` for reasoning, signatures included. */
    reasoningTokens: z.int(),
    /** Messages whose tokens are still estimates. */
    uncounted: z.int(),
    /** Tokens of all of them verbatim in each format, within 5 %. */
    sentTokens: z.object(sentTokensShape),
    turns: turnsSchema,
    headSeq: z.int(),
    /** Of a fork: the thread that it was forked from, null if that was erased, and the last message that both share. */
    forkedFrom: z.object({ thread: z.string().nullable(), seq: z.int() }).nullable(),
    /** The cursor of each stage; that of `remember` is null where no facts are read. */
    cursors: cursorsSchema,
    lastError: z.string().nullable(),
    /** The latest compactions, newest last. */
    states: z.array(stateSchema),
    prunings: z.object({ condense: z.int(), remove: z.int(), stub: z.int(), tokensFreed: z.int() }),
    /** Provider calls for summaries, for as long as they are recorded. */
    summaryCosts: z.object({
      summaries: z.int(),
      calls: z.int(),
      failedCalls: z.int(),
      inputTokens: z.int(),
      outputTokens: z.int(),
      /** US dollars by list prices; calls of models without a known price are not included, but listed. */
      costUsd: z.number(),
      callsWithoutPrice: z.int(),
    }),
  }),
)
/** The state of a thread: its stored data, and the progress of the pipeline. */
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
    headSeq: z.int(),
    /**
     * The cursor of each stage; a stage whose cursor is at `headSeq` has nothing left to do, as `remember` with null, where no
     * facts are read.
     */
    cursors: cursorsSchema,
    /** The newest built context; null without one. */
    lastContext: z.object({ id: idSchema, tokensUsed: z.int(), budget: z.int().nullable() }).nullable(),
  }),
)
export type ThreadSummary = OutputOf<typeof threadSummarySchema>
export const threadPageSchema = named('ThreadPage', pageSchema(threadSummarySchema))
export const resumeTextSchema = named(
  'ResumeText',
  z.object({
    thread: z.string(),
    /** The last message that it was made from. */
    headSeq: z.int(),
    /** Constraints, the last requests word for word, next steps, files and a summary; empty without messages. */
    text: z.string(),
  }),
)
/** The text with which an agent goes on in a thread. */
export type ResumeText = OutputOf<typeof resumeTextSchema>

export const threadsQuerySchema = pageQuerySchema.extend({
  agent: nameSchema.optional(),
  /** Only threads whose name or title contains this text, whatever its case. */
  search: z.string().min(1).max(limits.nameCharactersMax).optional(),
})

export const erasureQuerySchema = z.strictObject({
  /** `true`: the name is free after the erasure, and a new thread may use it. */
  reuse: flagQuerySchema.optional(),
})

export const erasedSchema = named(
  'Erased',
  z.object({
    kind: z.enum(['project', 'agent', 'thread', 'messages']),
    /** Of messages, that of their thread. */
    name: z.string(),
    /** Removed rows by kind, such as `messages` and `contexts`, including those of an earlier, interrupted request. */
    removed: z.record(z.string(), z.int()),
    /** Jobs that this request removed from the queues. */
    jobs: z.int(),
    /** Whether everything is removed; it is hidden in any case. */
    finished: z.boolean(),
  }),
)
export type ErasureResult = OutputOf<typeof erasedSchema>
/** Kinds of erased data. */
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
export type ThreadProcess = OutputOf<typeof processSchema>
export const processPageSchema = named('ProcessPage', pageSchema(processSchema))

/** A moment of a thread: the id or the reference of a message, or its number in the thread. */
const momentSchema = z.union([z.int().min(1), z.string().min(1).max(2_000)])

export const forkBodySchema = named(
  'ForkBody',
  z.strictObject({
    /** The last message that both threads share: its id, its reference or its number. Default: the thread's latest. */
    at: momentSchema.optional(),
    /** The name of the new thread, which no thread had before. Default: the thread's name with `fork` and some characters. */
    name: nameSchema.optional(),
    /** Default: the title of the thread. */
    title: threadDetailsSchema.shape.title.unwrap().unwrap().optional(),
  }),
)
export type ForkBody = z.input<typeof forkBodySchema>

export const forkedThreadSchema = named(
  'ForkedThread',
  z.object({
    threadId: idSchema,
    /** The name of the new thread. */
    thread: z.string(),
    agent: z.string(),
    forkedFrom: z.object({ thread: z.string(), seq: z.int() }),
    /** False if an earlier call with the same name and moment made it. */
    isNew: z.boolean(),
    /** Compactions of the thread that hold for the new one: at most one of each of its lanes. */
    compactions: z.int(),
  }),
)
export type ForkedThread = OutputOf<typeof forkedThreadSchema>

export const compareParamsSchema = z.strictObject({ thread: nameSchema, other: nameSchema })

export const threadComparisonSchema = named(
  'ThreadComparison',
  z.object({
    thread: z.string(),
    other: z.string(),
    /** The messages that both share, up to the last of them; null if they share none. Equal copies do not count. */
    common: z.object({ messages: z.int(), seq: z.int(), reference: z.string() }).nullable(),
    /** Messages that only the one or the other has. */
    after: z.object({ thread: z.int(), other: z.int() }),
  }),
)
export type ThreadComparison = OutputOf<typeof threadComparisonSchema>
