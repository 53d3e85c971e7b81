import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  doublePrecision,
  foreignKey,
  index,
  integer,
  json,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { bytes, createdAt, heddle, ownProjectOnly, projectId, time } from './columns.js'
import { threads } from './threads.js'

/**
 * The series of a thread's compactions in one lane (a strategy with its settings). Each generation replaces the one
 * before; the latest that is `ready` is in force. A compaction that needs a summary is `pending` until the summarize stage
 * publishes it, and `passed` where a later one was made before that; one that a late message overtook becomes `void`.
 */
export const contextStates = heddle.table(
  'context_states',
  {
    id: uuid('id').primaryKey(),
    projectId: projectId(),
    threadId: uuid('thread_id').notNull(),
    lane: text('lane').notNull(),
    strategy: text('strategy').notNull(),
    clearEpoch: integer('clear_epoch').notNull(),
    generation: integer('generation').notNull(),
    replaces: uuid('replaces'),
    status: text('status', { enum: ['pending', 'passed', 'ready', 'void'] }).notNull(),
    /** Where the compaction happened: the newest message that it took into account, in conversation order. */
    pointAt: time('point_at').notNull(),
    pointOrdinal: integer('point_ordinal').notNull(),
    pointId: uuid('point_id').notNull(),
    /** The head it saw: a message past it inside the covered range is not swallowed. */
    headSeq: bigint('head_seq', { mode: 'number' }).notNull(),
    topIds: uuid('top_ids').array().notNull(),
    /** The covered range, both ends included; null before the first summary. */
    coveredFromAt: time('covered_from_at'),
    coveredFromOrdinal: integer('covered_from_ordinal'),
    coveredFromId: uuid('covered_from_id'),
    coveredToAt: time('covered_to_at'),
    coveredToOrdinal: integer('covered_to_ordinal'),
    coveredToId: uuid('covered_to_id'),
    coveredCount: integer('covered_count').notNull().default(0),
    coveredTokens: bigint('covered_tokens', { mode: 'number' }).notNull().default(0),
    summary: text('summary'),
    summaryTokens: integer('summary_tokens').notNull().default(0),
    summarizer: text('summarizer'),
    createdAt: createdAt(),
    readyAt: time('ready_at'),
    voidedAt: time('voided_at'),
  },
  (table) => [
    /** A void state gives its place in the series free to the one that is built instead. */
    uniqueIndex('context_states_generation')
      .on(table.threadId, table.lane, table.clearEpoch, table.generation)
      .where(sql`status <> 'void'`),
    index('context_states_pending').on(table.threadId).where(sql`status = 'pending'`),
    index('context_states_void').on(table.threadId).where(sql`status = 'void'`),
    index('context_states_voided').on(table.voidedAt).where(sql`status = 'void'`),
    ownProjectOnly(table.projectId),
  ],
)

/** What a compaction decided about one message. In force while the state of its generation is not void. */
export const prunings = heddle.table(
  'prunings',
  {
    threadId: uuid('thread_id').notNull(),
    stateId: uuid('state_id').notNull(),
    messageId: uuid('message_id').notNull(),
    projectId: projectId(),
    action: text('action', { enum: ['condense', 'remove', 'stub'] }).notNull(),
    /** What stands in the context instead; empty where the message is removed. */
    text: text('text').notNull(),
    tokens: integer('tokens').notNull(),
    reason: text('reason').notNull(),
    archiveId: uuid('archive_id').notNull(),
    undoneAt: time('undone_at'),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.threadId, table.messageId, table.stateId] }),
    ownProjectOnly(table.projectId),
  ],
)

/**
 * Summaries of parts of threads (spec 003: tree), by what they cover: messages never change, so a part is summarized once
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
    createdAt: createdAt(),
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
    endAt: time('end_at').notNull(),
    endOrdinal: integer('end_ordinal').notNull(),
    endId: uuid('end_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.threadId, table.stateId, table.place] }), ownProjectOnly(table.projectId)],
)

/**
 * Messages whose pruning was undone: compactions leave them alone, until one is asked to take them again. A message that is
 * undone once more gets another row, so that it can be told how it stood at any moment.
 */
export const undoneMessages = heddle.table(
  'undone_messages',
  {
    threadId: uuid('thread_id').notNull(),
    messageId: uuid('message_id').notNull(),
    projectId: projectId(),
    undoneAt: time('undone_at').notNull().defaultNow(),
    /** When it was handed back to compactions; null while it is kept from them. */
    redoneAt: time('redone_at'),
  },
  (table) => [
    primaryKey({ columns: [table.threadId, table.messageId, table.undoneAt] }),
    foreignKey({ columns: [table.threadId], foreignColumns: [threads.id] }).onDelete('cascade'),
    ownProjectOnly(table.projectId),
  ],
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
    createdAt: createdAt(),
  },
  (table) => [
    index('summary_calls_thread').on(table.threadId, table.createdAt),
    index('summary_calls_created').on(table.createdAt),
    ownProjectOnly(table.projectId),
  ],
)

/** The full content of what was condensed (spec 001), under the message's reference. */
export const archive = heddle.table(
  'archive',
  {
    id: uuid('id').primaryKey(),
    projectId: projectId(),
    threadId: uuid('thread_id').notNull(),
    messageId: uuid('message_id').notNull(),
    /** The part of the message: empty for the whole of it. */
    location: text('location').notNull().default(''),
    contentType: text('content_type').notNull(),
    summary: text('summary').notNull(),
    contentHash: bytes('content_hash').notNull(),
    filePaths: text('file_paths').array().notNull().default(sql`'{}'`),
    toolName: text('tool_name'),
    tokenCount: integer('token_count').notNull(),
    /** Whether the tool reported that it failed. */
    failed: boolean('failed').notNull().default(false),
    originalCreatedAt: time('original_created_at').notNull(),
    archivedAt: time('archived_at').notNull().defaultNow(),
    lastAccessedAt: time('last_accessed_at'),
    accessCount: integer('access_count').notNull().default(0),
  },
  (table) => [
    unique('archive_message').on(table.threadId, table.messageId, table.location),
    index('archive_newest').on(table.threadId, table.originalCreatedAt, table.id),
    index('archive_kind').on(table.projectId, table.contentType, table.originalCreatedAt),
    index('archive_content').on(table.projectId, table.contentHash),
    ownProjectOnly(table.projectId),
  ],
)

/** A long content's blocks in their order. */
export interface ContentBlocks {
  /** Bytes of each, compressed. */
  readonly lengths: readonly number[]
  /** Line feeds in each. */
  readonly newlines: readonly number[]
  /** Whether the content ends in something else than a line feed. */
  readonly isOpen: boolean
}

/** Archived content, compressed, once per distinct content within a project. */
export const archiveContents = heddle.table(
  'archive_contents',
  {
    projectId: projectId(),
    /** SHA-256 of the content. */
    hash: bytes('hash').notNull(),
    /** Brotli. */
    content: bytes('content').notNull(),
    /** The blocks of a long content, each compressed by itself; null where it is one piece. */
    blocks: json('blocks').$type<ContentBlocks>(),
    sizeBytes: integer('size_bytes').notNull(),
    referenceCount: integer('reference_count').notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.hash] }), ownProjectOnly(table.projectId)],
)
