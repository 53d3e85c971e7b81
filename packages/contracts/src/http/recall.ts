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
  /** The line that stands for it in contexts, else its summary. */
  text: z.string(),
  summary: z.string(),
  tokenCount: z.int(),
  /** The message's place in time. */
  at: isoTimeSchema,
  archivedAt: isoTimeSchema,
  accessCount: z.int(),
  lastAccessedAt: isoTimeSchema.nullable(),
}

const archiveHitSchema = z.object(archiveEntry)
/** An archived content, without the content: `client.recall` brings that back by its `ref`. */
export type ArchiveHit = OutputOf<typeof archiveHitSchema>

export const archiveFoundSchema = named(
  'ArchiveFound',
  z.object({ items: z.array(archiveHitSchema.extend({ score: z.number() })), ...howFound }),
)
/** What a search of the archive found, the best first. */
export type ArchiveSearchResult = Omit<OutputOf<typeof archiveFoundSchema>, 'nextCursor'>
export const archivePageSchema = named('ArchivePage', pageSchema(archiveHitSchema))

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
  failed: flagQuerySchema.optional(),
  since,
  until,
})

const neighbourSchema = z.object({ messageId: idSchema, role: z.string(), text: z.string() })
/** A message beside a hit. */
export type Neighbour = OutputOf<typeof neighbourSchema>
const excerpts = {
  /** Up to 500 characters around the words that were found. */
  text: z.string(),
  /** The message that was stored before it, in short; null where it is the first. */
  before: neighbourSchema.nullable(),
  /** The message that was stored after it, in short; null where it is the last. */
  after: neighbourSchema.nullable(),
}
const excerptsSchema = z.object(excerpts)
/** What a hit shows of itself and of what stands around it. */
export type Excerpts = OutputOf<typeof excerptsSchema>

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
        ...excerpts,
      }),
    ),
    ...howFound,
  }),
)
/** What a search found, the best first. */
export type SearchResult = Omit<OutputOf<typeof foundSchema>, 'nextCursor'>
/** A message that a search found. `client.recall` brings all of it back by its `ref`. */
export type SearchHit = SearchResult['items'][number]
