import { z } from 'zod'
import { limits } from '../primitives/limits.js'
import { idSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { archiveListSchema, archiveSearchSchema } from '../recall/archive.js'
import { addressNote, recallRequestSchema, recallResultSchema } from '../recall/recall.js'
import { searchKinds, searchRequestSchema } from '../recall/search.js'
import { flagQuerySchema, isoTimeSchema, named, pageQuerySchema, pageSchema } from './common.js'

export const recallBodySchema = named('RecallBody', recallRequestSchema)
export const recalledSchema = named('Recalled', recallResultSchema)

/** How a search was made. */
const howFound = {
  /** Whether all messages that may match were searched. */
  isComplete: z.boolean(),
  /** The model of the vectors used for ranking; null for words only. */
  model: z.string().nullable(),
  /** How vectors were compared: one by one, or by the index of pgvector; null for words only. */
  comparedBy: z.enum(['exact', 'pgvector']).nullable(),
  /** Why requested vectors were used only in part, or not at all; null for a complete search. */
  degraded: z.string().nullable(),
  /** A search has one page. */
  nextCursor: z.null(),
}

export const archiveSearchBodySchema = named('ArchiveSearchBody', archiveSearchSchema)
const archiveEntry = {
  ref: z.string().describe(`The form of references: ${addressNote}.`),
  messageId: idSchema,
  /** Where in the message the content is, as its `ref` ends: `tool-2` for a call; null for its whole text. */
  location: z.string().nullable(),
  sourceId: z.string().nullable(),
  thread: z.string(),
  kind: z.string(),
  toolName: z.string().nullable(),
  filePaths: z.array(z.string()),
  failed: z.boolean(),
  /** The line that replaces it in contexts, else its summary. */
  text: z.string(),
  summary: z.string(),
  tokenCount: z.int(),
  /** The message's time. */
  at: isoTimeSchema,
  archivedAt: isoTimeSchema,
  accessCount: z.int(),
  lastAccessedAt: isoTimeSchema.nullable(),
}

export const archiveHitSchema = z.object(archiveEntry)
/** An archived content without its text, which `client.recall` returns by its `ref`. */
export type ArchiveHit = OutputOf<typeof archiveHitSchema>

export const archiveFoundSchema = named(
  'ArchiveFound',
  z.object({ items: z.array(archiveHitSchema.extend({ score: z.number() })), ...howFound }),
)
/** The results of an archive search, the best first. */
export type ArchiveSearchResult = Omit<OutputOf<typeof archiveFoundSchema>, 'nextCursor'>
export const archivePageSchema = named('ArchivePage', pageSchema(archiveHitSchema))

const { agent, thread, kinds, tool, path, since, until } = archiveListSchema.shape

/** Filters for the archive of the project, an agent or a thread; all must match. */
export const archiveQuerySchema = pageQuerySchema.extend({
  agent,
  thread,
  /** Comma-separated kinds: `bash,grep`. */
  kinds: z
    .string()
    .max(limits.nameCharactersMax)
    .transform((text) => text.split(','))
    .pipe(kinds.unwrap())
    .optional(),
  tool,
  path,
  failed: flagQuerySchema.optional(),
  since,
  until,
})

const neighbourSchema = z.object({ messageId: idSchema, role: z.string(), text: z.string() })
/** A message next to a hit. */
export type Neighbour = OutputOf<typeof neighbourSchema>
const excerpts = {
  /** Up to 500 characters around the matched words. */
  text: z.string(),
  /** The message stored before it, in short; null for the first. */
  before: neighbourSchema.nullable(),
  /** The message stored after it, in short; null for the last. */
  after: neighbourSchema.nullable(),
}
const excerptsSchema = z.object(excerpts)
/** The texts of a hit: an excerpt, and its neighbors. */
export type Excerpts = OutputOf<typeof excerptsSchema>

const explanationSchema = z.object({
  /** The score by words: `side x times x (passageScore + neighbours + thread + speaker)`; null if they were not searched. */
  words: z
    .object({
      /** The best passage of the message, counted from 1; null if the message has no term of the query. */
      passage: z.int().nullable(),
      /** The terms of the query in that passage, as stems, with their scores. */
      terms: z.array(z.object({ term: z.string(), score: z.number() })),
      /** The share of the query's weight that the passage has, from 0 to 1. */
      share: z.number(),
      passageScore: z.number(),
      /** The shares of the messages beside it. */
      neighbours: z.number(),
      /** The share of its thread. */
      thread: z.number(),
      /** Added if the query names the speaker. */
      speaker: z.number(),
      /** The factor for a reply of a model. */
      side: z.number(),
      /** The factor for a text that names a time, if the query asks for one. */
      times: z.number(),
    })
    .nullable(),
  /** Null if vectors were not compared. */
  vectors: z.object({ cosine: z.number().nullable(), score: z.number() }).nullable(),
  /** The score of the rankings, before a rule on the texts. */
  score: z.number(),
  /** Null if no reranker read it. */
  reranked: z
    .object({
      /** Of the reranker; higher is better. */
      score: z.number(),
      /** Its place without the reranker, from 1. */
      from: z.int(),
    })
    .nullable(),
  /** The rule that moved it: it replaces an older statement, or covers a part of the time of a question of order. */
  rule: z.enum(['newer', 'coverage']).nullable(),
})
/** Why a hit has its place. */
export type SearchExplanation = OutputOf<typeof explanationSchema>

export const searchBodySchema = named('SearchBody', searchRequestSchema)
export const foundSchema = named(
  'Found',
  z.object({
    items: z.array(
      z.object({
        messageId: idSchema,
        /** Position in the order of storing. */
        seq: z.int(),
        sourceId: z.string().nullable(),
        thread: z.string(),
        ref: z.string(),
        kind: z.enum(searchKinds),
        /** Higher is better; scores of two searches are not comparable. */
        score: z.number(),
        at: isoTimeSchema,
        /**
         * The moment that the message is about: the beginning of the day, month or year that its excerpt names, else of one
         * that its text names, else `at`.
         */
        moment: isoTimeSchema,
        /**
         * The message that states another value since, if the query asks for a value as it is now ("how many", "what is
         * the deadline"); it ranks before this hit. Null for a hit that no other one replaces.
         */
        supersededBy: idSchema.nullable(),
        /** Null unless the request has `explain`. */
        explanation: explanationSchema.nullable(),
        ...excerpts,
      }),
    ),
    /** The model that ordered the first results again; null without one. */
    rerankedBy: z.string().nullable(),
    ...howFound,
  }),
)
/** The results of a search, the best first. */
export type SearchResult = Omit<OutputOf<typeof foundSchema>, 'nextCursor'>
/** A message found by a search. `client.recall` returns all of it by its `ref`. */
export type SearchHit = SearchResult['items'][number]
