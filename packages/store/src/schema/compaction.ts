import type { PartialSettings } from '@heddle/contracts'
import type { CondensedCall, Ledger } from '@heddle/core'
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  foreignKey,
  index,
  integer,
  json,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { createdAt, heddle, now, ownProjectOnly, projectId, time } from './columns.js'
import { threads } from './threads.js'

/**
 * The series of a thread's compactions in one lane (a strategy with its settings). Each generation replaces the previous one;
 * the latest that is `ready` is valid. A compaction that needs a summary is `pending` until the summarize stage adds it, and
 * `passed` if a later one was inserted before that; one that a late message invalidates becomes `void`.
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
    /** The position of the compaction: the newest message that it took into account, in conversation order. */
    pointAtMs: time('point_at').notNull(),
    pointOrdinal: integer('point_ordinal').notNull(),
    pointId: uuid('point_id').notNull(),
    /** The head that it saw: a later message inside the covered range is not covered. */
    headSeq: bigint('head_seq', { mode: 'number' }).notNull(),
    topIds: uuid('top_ids').array().notNull(),
    /** The covered range, both ends included; null before the first summary. */
    coveredFromAtMs: time('covered_from_at'),
    coveredFromOrdinal: integer('covered_from_ordinal'),
    coveredFromId: uuid('covered_from_id'),
    coveredToAtMs: time('covered_to_at'),
    coveredToOrdinal: integer('covered_to_ordinal'),
    coveredToId: uuid('covered_to_id'),
    coveredCount: integer('covered_count').notNull().default(0),
    coveredTokens: bigint('covered_tokens', { mode: 'number' }).notNull().default(0),
    summary: text('summary'),
    summaryTokens: integer('summary_tokens').notNull().default(0),
    summarizer: text('summarizer'),
    /** The artifacts up to its point; null for compactions from before there were ledgers. */
    ledger: json('ledger').$type<Ledger>(),
    createdAtMs: createdAt(),
    readyAtMs: time('ready_at'),
    voidedAtMs: time('voided_at'),
  },
  (table) => [
    /** A void state frees its place in the series for its replacement. */
    uniqueIndex('context_states_generation')
      .on(table.threadId, table.lane, table.clearEpoch, table.generation)
      .where(sql`status <> 'void'`),
    index('context_states_pending').on(table.threadId).where(sql`status = 'pending'`),
    index('context_states_void').on(table.threadId).where(sql`status = 'void'`),
    index('context_states_voided').on(table.voidedAtMs).where(sql`status = 'void'`),
    ownProjectOnly(table.projectId),
  ],
)

/** The decision of a compaction on one message. Valid while the state of its generation is not void. */
export const prunings = heddle.table(
  'prunings',
  {
    threadId: uuid('thread_id').notNull(),
    stateId: uuid('state_id').notNull(),
    messageId: uuid('message_id').notNull(),
    projectId: projectId(),
    action: text('action', { enum: ['condense', 'remove', 'stub'] }).notNull(),
    /** The replacement of its text; empty if the message is removed, or if only inputs of its calls are replaced. */
    text: text('text').notNull(),
    /** The calls whose inputs are replaced by a line; null without any. */
    calls: json('calls').$type<readonly CondensedCall[]>(),
    tokens: integer('tokens').notNull(),
    reason: text('reason').notNull(),
    archiveId: uuid('archive_id').notNull(),
    undoneAtMs: time('undone_at'),
    createdAtMs: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.threadId, table.messageId, table.stateId] }),
    ownProjectOnly(table.projectId),
  ],
)

/**
 * Messages whose pruning was undone: compactions skip them until a redo. Each further undo of a message inserts another row,
 * so that the state at any time is known.
 */
export const undoneMessages = heddle.table(
  'undone_messages',
  {
    threadId: uuid('thread_id').notNull(),
    messageId: uuid('message_id').notNull(),
    projectId: projectId(),
    undoneAtMs: time('undone_at').notNull().default(now),
    /** When it was redone; null while compactions skip the message. */
    redoneAtMs: time('redone_at'),
  },
  (table) => [
    primaryKey({ columns: [table.threadId, table.messageId, table.undoneAtMs] }),
    foreignKey({ columns: [table.threadId], foreignColumns: [threads.id] }).onDelete('cascade'),
    ownProjectOnly(table.projectId),
  ],
)

/**
 * Changes of the pins of stored messages, append-only. The latest of a message is in force; without one, the message's own
 * `pinned` is.
 */
export const pins = heddle.table(
  'pins',
  {
    threadId: uuid('thread_id').notNull(),
    messageId: uuid('message_id').notNull(),
    projectId: projectId(),
    changedAtMs: time('changed_at').notNull(),
    isPinned: boolean('is_pinned').notNull(),
    /** When housekeeping takes the pin back; null for a pin without an end. */
    untilMs: time('until'),
  },
  (table) => [
    primaryKey({ columns: [table.threadId, table.messageId, table.changedAtMs] }),
    foreignKey({ columns: [table.threadId], foreignColumns: [threads.id] }).onDelete('cascade'),
    index('pins_until').on(table.untilMs).where(sql`until is not null`),
    ownProjectOnly(table.projectId),
  ],
)

/** Lanes of requests whose settings are not the thread's own, which are compacted in the background besides its own lane. */
export const keptLanes = heddle.table(
  'kept_lanes',
  {
    threadId: uuid('thread_id').notNull(),
    lane: text('lane').notNull(),
    projectId: projectId(),
    /** The settings of the request that lead to the lane, over those of the agent and the thread. */
    settings: json('settings').$type<PartialSettings>().notNull(),
    /** When a request last had this lane, within a few minutes. */
    askedAtMs: time('asked_at').notNull().default(now),
    /**
     * Tokens of a context of the lane when the prune stage settled it at `seq`, and the state in force then. No tokens if the
     * messages must be read; null before the lane was settled for the first time.
     */
    usage: json('usage').$type<{ tokens: number | null; stateId: string | null; seq: number }>(),
  },
  (table) => [
    primaryKey({ columns: [table.threadId, table.lane] }),
    foreignKey({ columns: [table.threadId], foreignColumns: [threads.id] }).onDelete('cascade'),
    index('kept_lanes_asked').on(table.askedAtMs),
    ownProjectOnly(table.projectId),
  ],
)
