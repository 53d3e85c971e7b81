import { z } from 'zod'
import { cursorQuerySchema, isoTimeSchema, named, pageSchema, wholeNumberSchema } from '../http/common.js'
import { limits } from '../primitives/limits.js'
import { foreignNameSchema, idSchema, nameSchema, timeSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'

/** Kinds of facts. `other` is for facts that people put. */
export const factKinds = ['value', 'profile', 'preference', 'decision', 'experience', 'other'] as const
export type FactKind = (typeof factKinds)[number]

/** `extracted` by the rules or a model from a message, or `put` by a person or an agent. */
export const factOrigins = ['extracted', 'put'] as const
export type FactOrigin = (typeof factOrigins)[number]

const factTextSchema = (charactersMax: number) =>
  foreignNameSchema(charactersMax).refine((text) => text.trim() === text, 'must not start or end with white space')
const factWordsSchema = factTextSchema(limits.factCharactersMax)
const factNameSchema = factTextSchema(limits.factNameCharactersMax)

export const factSchema = named(
  'Fact',
  z.object({
    id: idSchema,
    agent: z.string(),
    /** Its scope: null for the agent in all of its threads. */
    thread: z.string().nullable(),
    subject: z.string(),
    predicate: z.string(),
    object: z.string(),
    kind: z.enum(factKinds),
    /** Whether the object is denied. */
    negated: z.boolean(),
    /** Whether a later value of the same subject and predicate replaces it. */
    single: z.boolean(),
    /** The sentence that says so, word for word. */
    statement: z.string(),
    validFrom: isoTimeSchema,
    /** When it ceased to hold; null while it does. */
    validTo: isoTimeSchema.nullable(),
    recordedAt: isoTimeSchema,
    /** The fact that replaced or corrected it. */
    supersededBy: idSchema.nullable(),
    /** Facts of the same subject and predicate that cannot be true at the same time. */
    conflictsWith: z.array(idSchema),
    retractedAt: isoTimeSchema.nullable(),
    /** The messages that say so, with the references by which they are recalled. */
    sources: z.array(z.object({ messageId: idSchema, reference: z.string() })),
    /** The rules or the model that read it; null for one that was put. */
    extractor: z.string().nullable(),
    confidence: z.number(),
    origin: z.enum(factOrigins),
  }),
)
/** A known thing of a subject, since when it holds, and from which messages it comes. */
export type Fact = OutputOf<typeof factSchema>
export const factPageSchema = named('FactPage', pageSchema(factSchema))

export const factParamsSchema = z.strictObject({ agent: nameSchema, fact: idSchema })

const factFilters = {
  /** Facts of this thread alone. Default: of the agent and all of its threads. */
  thread: nameSchema.optional(),
  /** In whatever order and form its words are. */
  subject: factNameSchema.optional(),
  predicate: factNameSchema.optional(),
  /** Those that held at this moment. Default: all, also replaced and retracted ones. */
  asOf: timeSchema.optional(),
  /** A question: the facts with its words, best first, the newer of two values before the older. */
  query: foreignNameSchema(limits.searchCharactersMax).optional(),
} as const

export const factQuerySchema = z.strictObject({
  ...factFilters,
  limit: wholeNumberSchema
    .pipe(z.int().min(1, 'must be at least 1').max(limits.factsPerPageMax, `must be at most ${limits.factsPerPageMax}`))
    .optional(),
  cursor: cursorQuerySchema,
})
export const factListSchema = z.strictObject({
  ...factFilters,
  limit: z.int().min(1).max(limits.factsPerPageMax).default(50),
  cursor: cursorQuerySchema,
})
export type FactListOptions = z.input<typeof factListSchema>

export const factBodySchema = named(
  'FactBody',
  z.strictObject({
    subject: factNameSchema,
    predicate: factNameSchema,
    object: factWordsSchema,
    /** Default `other`. */
    kind: z.enum(factKinds).optional(),
    negated: z.boolean().optional(),
    /** Whether a later value replaces it. Default: false. */
    single: z.boolean().optional(),
    /** Default: `subject predicate object`. */
    statement: factWordsSchema.optional(),
    /** Since when it holds. Default: now. */
    validFrom: timeSchema.optional(),
    validTo: timeSchema.optional(),
    /** The thread in which alone it holds. Default: all threads of the agent. */
    thread: nameSchema.optional(),
    /** Ids of messages of the thread that say so; the fact is erased with the first of them. */
    sources: z.array(idSchema).max(limits.factSourcesMax, `must have at most ${limits.factSourcesMax} ids`).optional(),
    confidence: z.number().min(0).max(1).optional(),
    /** The fact in whose place it is put: that one is shown as replaced by it, and held at no time. */
    corrects: idSchema.optional(),
  }),
)
export type FactBody = z.input<typeof factBodySchema>

/** A fact in the reply of a model. */
export const modelFactSchema = z.object({
  /** The number of its message in the prompt, from 1. */
  message: z.int().min(1),
  subject: factNameSchema,
  predicate: factNameSchema,
  object: factWordsSchema,
  kind: z.enum(factKinds).catch('other'),
  negated: z.boolean().catch(false),
  single: z.boolean().catch(false),
  /** The words of the message that say so: without them it is no fact. */
  quote: factWordsSchema,
})

export const factExtractionSchema = z.strictObject({
  /** Messages up to this number were read before. Default: 0. */
  afterSeq: z.int().min(0).default(0),
  /** Messages that one call reads. */
  limit: z.int().min(1).max(limits.factMessagesMax).default(limits.factMessagesMax),
})
export type FactExtraction = z.input<typeof factExtractionSchema>

export const extractedFactsSchema = named(
  'ExtractedFacts',
  z.object({
    thread: z.string(),
    agent: z.string(),
    /** The version of the rules. */
    extractor: z.string(),
    /** Messages that were read. */
    messages: z.int(),
    /** Facts in them, those that were known included. */
    facts: z.int(),
    /** Facts that were new. */
    added: z.int(),
    /** The `afterSeq` of the next call; null when all were read. */
    nextSeq: z.int().nullable(),
  }),
)
/** The facts that one call read from a thread. */
export type ExtractedFacts = OutputOf<typeof extractedFactsSchema>
