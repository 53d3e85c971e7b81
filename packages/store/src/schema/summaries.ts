import { doublePrecision, index, integer, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, createdAt, heddle, ownProjectOnly, projectId, time } from './columns.js'

/**
 * Summaries of parts of threads (docs/strategies.md#summaries-by-levels), by what they cover: messages never change, so a part is summarized once
 * for all strategies and budgets. What is here can be made again.
 */
export const summaryParts = heddle.table(
  'summary_parts',
  {
    threadId: uuid('thread_id').notNull(),
    /** Of the messages of a leaf, or of the parts of a larger part. */
    hash: bytes('hash').notNull(),
    /** Who wrote it. */
    summarizer: text('summarizer').notNull(),
    projectId: projectId(),
    summary: text('summary').notNull(),
    createdAtMs: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.threadId, table.hash, table.summarizer] }), ownProjectOnly(table.projectId)],
)

/**
 * Where the leaves of a series of compactions end, so that a later one reads the messages after them alone. A leaf belongs
 * to the state for which it was cut, and becomes void with it.
 */
export const summaryLeaves = heddle.table(
  'summary_leaves',
  {
    threadId: uuid('thread_id').notNull(),
    stateId: uuid('state_id').notNull(),
    /** From 0, in conversation order; of two that a series has at one place, the later state's is in force. */
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
 * Calls of a provider for summaries, for people who ask what those cost, and for the bound on how many a thread gets in an
 * hour. Kept for a while only; they hold no words of anybody.
 */
export const summaryCalls = heddle.table(
  'summary_calls',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    projectId: projectId(),
    threadId: uuid('thread_id').notNull(),
    /** The summary, or the try to make one, that the call was a part of. */
    summaryId: uuid('summary_id').notNull(),
    purpose: text('purpose', { enum: ['compaction', 'snapshot', 'progress'] }).notNull(),
    provider: text('provider').notNull(),
    model: text('model').notNull(),
    outcome: text('outcome', { enum: ['ok', 'failed'] }).notNull(),
    errorCode: text('error_code'),
    inputTokens: integer('input_tokens'),
    outputTokens: integer('output_tokens'),
    /** By list prices; null where the model's is not known. */
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
