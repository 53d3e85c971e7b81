import type { Loop, PartialSettings } from '@heddle/contracts'
import { sql } from 'drizzle-orm'
import { bigint, foreignKey, index, integer, json, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core'
import { agents } from './agents.js'
import { code, createdAt, heddle, now, ownProjectOnly, projectId, time } from './columns.js'

export const threads = heddle.table(
  'threads',
  {
    id: uuid('id').primaryKey(),
    projectId: projectId(),
    name: text('name').notNull(),
    /** Short code of the id, unique in the project, for references. */
    code: code('code').notNull(),
    agentId: uuid('agent_id')
      .notNull()
      .references(() => agents.id, { onDelete: 'cascade' }),
    /** The current version of its details: a row of `thread_versions`; 0 before the first. */
    version: integer('version').notNull().default(0),
    /** When its details or processes last changed, while it has a status or a running process; else null. */
    activeAtMs: time('active_at'),
    createdAtMs: createdAt(),
  },
  (table) => [
    unique('threads_name').on(table.projectId, table.name),
    unique('threads_code').on(table.projectId, table.code),
    index('threads_agent').on(table.agentId, table.createdAtMs),
    index('threads_active').on(table.agentId, table.activeAtMs.desc(), table.id).where(sql`active_at is not null`),
    ownProjectOnly(table.projectId),
  ],
)

/**
 * Where the shared messages of a fork are stored, in the order of their numbers: each row is a run of them in the thread that
 * they were appended to (docs/decisions/2026-11-26-a-fork-reads-the-rows-of-its-origins.md). Rows never change: a thread is
 * a fork from its first moment on or never.
 */
export const threadOrigins = heddle.table(
  'thread_origins',
  {
    threadId: uuid('thread_id').notNull(),
    place: integer('place').notNull(),
    projectId: projectId(),
    /** The thread that has the rows. */
    originId: uuid('origin_id').notNull(),
    /** The run begins after this number. */
    afterSeq: bigint('after_seq', { mode: 'number' }).notNull(),
    toSeq: bigint('to_seq', { mode: 'number' }).notNull(),
    /** The thread that was forked, which may itself be a fork. */
    parentId: uuid('parent_id').notNull(),
    forkedAtMs: time('forked_at').notNull().default(now),
  },
  (table) => [
    primaryKey({ columns: [table.threadId, table.place] }),
    foreignKey({ columns: [table.threadId], foreignColumns: [threads.id] }).onDelete('cascade'),
    index('thread_origins_origin').on(table.originId, table.threadId),
    ownProjectOnly(table.projectId),
  ],
)

/** The details of a thread: title, goal, status and settings. Append-only. */
export const threadVersions = heddle.table(
  'thread_versions',
  {
    threadId: uuid('thread_id').notNull(),
    version: integer('version').notNull(),
    projectId: projectId(),
    title: text('title'),
    goal: text('goal'),
    status: text('status'),
    /** Settings that override the agent's. */
    settings: json('settings').$type<PartialSettings>().notNull().default({}),
    /** The state of a run besides its iterations (docs/iterations.md). */
    loop: json('loop').$type<Loop>(),
    createdAtMs: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.threadId, table.version] }),
    foreignKey({ columns: [table.threadId], foreignColumns: [threads.id] }).onDelete('cascade'),
    ownProjectOnly(table.projectId),
  ],
)

/** A process of a thread, as append-only versions of its status line. */
export const processes = heddle.table(
  'processes',
  {
    threadId: uuid('thread_id').notNull(),
    name: text('name').notNull(),
    version: integer('version').notNull(),
    projectId: projectId(),
    status: text('status').notNull(),
    /** Set on the version with which the process ended; null while it runs. */
    endedAtMs: time('ended_at'),
    createdAtMs: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.threadId, table.name, table.version] }),
    foreignKey({ columns: [table.threadId], foreignColumns: [threads.id] }).onDelete('cascade'),
    ownProjectOnly(table.projectId),
  ],
)

/** The current version of each running process, which each context reads. */
export const runningProcesses = heddle.table(
  'running_processes',
  {
    threadId: uuid('thread_id').notNull(),
    name: text('name').notNull(),
    projectId: projectId(),
    version: integer('version').notNull(),
    updatedAtMs: time('updated_at').notNull().default(now),
  },
  (table) => [
    primaryKey({ columns: [table.threadId, table.name] }),
    foreignKey({ columns: [table.threadId], foreignColumns: [threads.id] }).onDelete('cascade'),
    index('running_processes_newest').on(table.threadId, table.updatedAtMs.desc(), table.name),
    ownProjectOnly(table.projectId),
  ],
)

/**
 * One narrow row per thread: the head, and the cursor of each stage. Ingest locks it to assign sequence numbers; stages
 * advance their cursors by compare-and-set.
 */
export const stageCursors = heddle.table(
  'stage_cursors',
  {
    threadId: uuid('thread_id').primaryKey(),
    projectId: projectId(),
    headSeq: bigint('head_seq', { mode: 'number' }).notNull().default(0),
    /**
     * Where the sequence begins: after that of an erased thread with the same name, so that late data derived from that one
     * is not mistaken for data of this thread. 0 for a name that was never erased.
     */
    baseSeq: bigint('base_seq', { mode: 'number' }).notNull().default(0),
    /** When an earlier thread of this name was erased: messages that were sent before are refused. */
    erasedAtMs: time('erased_at'),
    /**
     * Of a fork: the last message that it shares with its origins, whose rows it does not have itself: see `thread_origins`.
     * 0 for all other threads.
     */
    sharedSeq: bigint('shared_seq', { mode: 'number' }).notNull().default(0),
    /** How many of the rows up to the head are restore marks and not messages. */
    restoredCount: integer('restored_count').notNull().default(0),
    /**
     * How many messages were erased one by one. Results that a stage derived from the thread under a lower count may
     * contain one of them, and are refused.
     */
    erasedCount: integer('erased_count').notNull().default(0),
    pruneSeq: bigint('prune_seq', { mode: 'number' }).notNull().default(0),
    summarizeSeq: bigint('summarize_seq', { mode: 'number' }).notNull().default(0),
    embedSeq: bigint('embed_seq', { mode: 'number' }).notNull().default(0),
    /** Null while no facts are read in the background: then the remember stage has nothing to do. */
    rememberSeq: bigint('remember_seq', { mode: 'number' }),
    /**
     * The tokens of a lane's context at `prune_seq`, and the state that they refer to, so that growth is added without
     * reading the thread again. Null if the thread must be read.
     */
    pruneUsage: json('prune_usage').$type<{ tokens: number; stateId: string | null; lane: string }>(),
    /** The number of stored iterations. */
    iterationCount: integer('iteration_count').notNull().default(0),
    /** The number of iterations that the summarize stage has processed. */
    progressCount: integer('progress_count').notNull().default(0),
    /** Estimated tokens of all messages, from which stages decide whether there is work. */
    tokensEstimate: bigint('tokens_estimate', { mode: 'number' }).notNull().default(0),
    /** The latest `ordered_at` of all messages. */
    lastMessageAtMs: time('last_message_at'),
    /** The reconciler skips the thread until then; set when a stage failed for good. */
    retryAtMs: time('retry_at'),
    /** The error of the stage that failed for good. */
    lastError: text('last_error'),
  },
  (table) => [
    index('stage_cursors_lagging')
      .on(table.retryAtMs, table.lastMessageAtMs)
      .where(sql`prune_seq < head_seq or summarize_seq < head_seq or embed_seq < head_seq or remember_seq < head_seq`),
    index('stage_cursors_unindexed').on(table.projectId, table.lastMessageAtMs).where(sql`embed_seq < head_seq`),
    index('stage_cursors_progress').on(table.retryAtMs).where(sql`progress_count < iteration_count`),
    ownProjectOnly(table.projectId),
  ],
)
