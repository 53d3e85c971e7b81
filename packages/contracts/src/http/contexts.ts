import { z } from 'zod'
import { contextDiffSchema } from '../contexts/context-diff.js'
import { contextRequestSchema, contextResultSchema, receiptSchema } from '../contexts/contexts.js'
import { type EventTopic, eventTopics, followedEventSchema } from '../messages/events.js'
import { limits } from '../primitives/limits.js'
import { idSchema, nameSchema, timeSchema } from '../primitives/names.js'
import { archiveListSchema, archiveSearchSchema } from '../recall/archive.js'
import { addressNote, recallRequestSchema, recallResultSchema } from '../recall/recall.js'
import { searchKinds, searchRequestSchema } from '../recall/search.js'
import { eventNumberSchema, isoTimeSchema, jsonRecordSchema, named, pageQuerySchema, pageSchema } from './common.js'

export const contextParamsSchema = z.strictObject({ context: idSchema })
export const momentParamsSchema = z.strictObject({ thread: nameSchema, at: timeSchema })
export const contextPairParamsSchema = z.strictObject({ context: idSchema, other: idSchema })

/** What an agent asks for; the thread stands in the path. */
export const contextBodySchema = named('ContextBody', contextRequestSchema.omit({ thread: true }))
export const contextSchema = named(
  'Context',
  contextResultSchema.extend({
    /** In the format that was asked for. */
    messages: z.array(jsonRecordSchema),
  }),
)
export const httpReceiptSchema = named('Receipt', receiptSchema)
export const httpContextDiffSchema = named('ContextDiff', contextDiffSchema)

/** A context that is still being built. */
export const contextRequestedSchema = named(
  'ContextRequested',
  z.object({ id: idSchema, status: z.literal('requested') }),
)

export const contextSummarySchema = named(
  'ContextSummary',
  z.object({
    id: idSchema,
    thread: z.string(),
    status: z.enum(['requested', 'built', 'failed']),
    budget: z.int().nullable(),
    tokensUsed: z.int().nullable(),
    requestedAt: isoTimeSchema,
    builtAt: isoTimeSchema.nullable(),
  }),
)
/** A context without its messages. */
export type ContextSummary = z.infer<typeof contextSummarySchema>
export const contextPageSchema = named('ContextPage', pageSchema(contextSummarySchema))

export const recallBodySchema = named('RecallBody', recallRequestSchema)
export const recalledSchema = named('Recalled', recallResultSchema)

/** How a search went. */
const howFound = {
  /** Whether all that may meet the conditions was looked at. */
  isComplete: z.boolean(),
  /** The model of the vectors that took part in the ranking; null where words alone did. */
  model: z.string().nullable(),
  /** How vectors were compared: one by one, or by the index of pgvector; null where words alone ranked. */
  comparedBy: z.enum(['exact', 'pgvector']).nullable(),
  /** Why vectors took no part though they were wanted, or only in part; null where nothing is amiss. */
  degraded: z.string().nullable(),
  /** A search has one page. */
  nextCursor: z.null(),
}

export const archiveSearchBodySchema = named('ArchiveSearchBody', archiveSearchSchema)
const archiveEntry = {
  ref: z.string().describe(`What recall takes: ${addressNote}.`),
  messageId: idSchema,
  sourceId: z.string().nullable(),
  thread: z.string(),
  kind: z.string(),
  toolName: z.string().nullable(),
  filePaths: z.array(z.string()),
  failed: z.boolean(),
  text: z.string(),
  summary: z.string(),
  tokenCount: z.int(),
  at: isoTimeSchema,
  archivedAt: isoTimeSchema,
  accessCount: z.int(),
  lastAccessedAt: isoTimeSchema.nullable(),
}

export const archiveFoundSchema = named(
  'ArchiveFound',
  z.object({ items: z.array(z.object({ ...archiveEntry, score: z.number() })), ...howFound }),
)
export const archivePageSchema = named('ArchivePage', pageSchema(z.object(archiveEntry)))

const { agent, thread, kinds, tool, path, since, until } = archiveListSchema.shape

/** What the archive holds of the project, an agent or a thread: all conditions that are given hold. */
export const archiveQuerySchema = pageQuerySchema.extend({
  agent,
  thread,
  /** Some of the kinds, with commas between them: `bash,grep`. */
  kinds: z
    .string()
    .max(limits.nameCharactersMax)
    .transform((text) => text.split(','))
    .pipe(kinds.unwrap())
    .optional(),
  tool,
  path,
  failed: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .transform((text) => text === 'true')
    .optional(),
  since,
  until,
})

const neighbourSchema = z.object({ messageId: idSchema, role: z.string(), text: z.string() })

export const searchBodySchema = named('SearchBody', searchRequestSchema)
export const foundSchema = named(
  'Found',
  z.object({
    items: z.array(
      z.object({
        messageId: idSchema,
        sourceId: z.string().nullable(),
        thread: z.string(),
        ref: z.string(),
        kind: z.enum(searchKinds),
        /** Higher is better; scores of two searches cannot be compared. */
        score: z.number(),
        at: isoTimeSchema,
        text: z.string(),
        /** The messages that were stored before and after it, in short. */
        before: neighbourSchema.nullable(),
        after: neighbourSchema.nullable(),
      }),
    ),
    ...howFound,
  }),
)

const topicSchema = z.enum(eventTopics, { error: `must be one of ${eventTopics.join(', ')}` })

export const eventsQuerySchema = z.strictObject({
  /** Topics with commas between them. Default all. */
  topics: z
    .string()
    .min(1, 'must not be empty')
    .max(200)
    .transform((text): EventTopic[] => text.split(',') as EventTopic[])
    .pipe(z.array(topicSchema).max(eventTopics.length))
    .optional(),
  /** Events of this thread only. */
  thread: nameSchema.optional(),
  /** Events of this agent only: of its threads, and of its snapshots. */
  agent: nameSchema.optional(),
  /** The number of the last event that the caller knows, where it cannot send `Last-Event-ID`. */
  after: eventNumberSchema.optional(),
})

export const httpEventSchema = named('Event', followedEventSchema)
