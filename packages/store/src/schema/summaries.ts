import { doublePrecision, index, integer, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, createdAt, heddle, ownProjectOnly, projectId, time } from './columns.js'

/**
 * Summaries of parts of threads (docs/strategies.md#summaries-by-levels), by what they cover: messages never change, so a part is summarized once
 * for all strategies and budgets. All rows can be created again.
 */
export const summaryParts = heddle.table(
  'summary_parts',
  {
    threadId: uuid('thread_id').notNull(),
    /** Hash of the messages of a leaf, or of the parts of a larger part. */
    hash: bytes('hash').notNull(),
    /** The summarizer that wrote it. */
    summarizer: text('summarizer').notNull(),
    projectId: projectId(),
    summary: text('summary').notNull(),
    createdAtMs: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.threadId, table.hash, table.summarizer] }), ownProjectOnly(table.projectId)],
)

/**
 * The ends of the leaves of a series of compactions, so that a later one reads only the messages after them. A leaf belongs
 * to the state for which it was cut, and becomes void with it.
 */
export const summaryLeaves = heddle.table(
  'summary_leaves',
  {
    threadId: uuid('thread_id').notNull(),
    stateId: uuid('state_id').notNull(),
    /** From 0, in conversation order; of two leaves of a series at one place, that of the later state is valid. */
    place: integer('place').notNull(),
    projectId: projectId(),
    hash: bytes('hash').notNull(),
    /** The last message of the leaf. */
    endAtMs: time('end_at').notNull(),
    endOrdinal: integer('end_ordinal').notNull(),
    endId: uuid('end_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.threadId, table.stateId, table.place] }), ownProjectOnly(table.projectId)],
)

/**
 * Calls of a provider for summaries, for reports of costs and for the limit per thread and hour. Stored for a while only;
 * they contain no text of messages.
 */
export const summaryCalls = heddle.table(
  'summary_calls',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    projectId: projectId(),
    threadId: uuid('thread_id').notNull(),
    /** The summary, or the failed attempt, to which the call belongs. */
    summaryId: uuid('summary_id').notNull(),
    purpose: text('purpose', { enum: ['compaction', 'snapshot', 'progress', 'facts'] }).notNull(),
    provider: text('provider').notNull(),
    model: text('model').notNull(),
    outcome: text('outcome', { enum: ['ok', 'failed'] }).notNull(),
    errorCode: text('error_code'),
    inputTokens: integer('input_tokens'),
    outputTokens: integer('output_tokens'),
    /** By list prices; null if that of the model is not known. */
    costUsd: doublePrecision('cost_usd'),
    durationMs: integer('duration_ms').notNull(),
    createdAtMs: createdAt(),
  },
  (table) => [
    index('summary_calls_thread').on(table.threadId, table.createdAtMs),
    index('summary_calls_created').on(table.createdAtMs),
    ownProjectOnly(table.projectId),
  ],
)
