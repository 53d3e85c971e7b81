import type { ContextRequest, ErrorData } from '@heddle/contracts'
import { sql } from 'drizzle-orm'
import { bigint, boolean, index, integer, json, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, heddle, now, ownProjectOnly, projectId, time } from './columns.js'
import type { SectionCounts } from './context-items.js'

/** A context: requested, then built or failed (docs/design.md#replies). The row is the reply; events only point at it. */
export const contexts = heddle.table(
  'contexts',
  {
    id: uuid('id').primaryKey(),
    projectId: projectId(),
    threadId: uuid('thread_id').notNull(),
    status: text('status', { enum: ['requested', 'built', 'failed'] }).notNull(),
    request: json('request').$type<ContextRequest>().notNull(),
    requestedAtMs: time('requested_at').notNull().default(now),
    /** When the caller stops waiting; the context is not built after it. */
    deadlineAtMs: time('deadline_at').notNull(),
    builtAtMs: time('built_at'),
    /** Why it failed. */
    error: json('error').$type<ErrorData>(),
    stateId: uuid('state_id'),
    agentVersion: integer('agent_version'),
    headSeq: bigint('head_seq', { mode: 'number' }),
    budget: integer('budget'),
    tokensUsed: integer('tokens_used'),
    summaryUsed: boolean('summary_used'),
    /** The time that the context shows: the data of then, and the window up to then. */
    shownAtMs: time('shown_at'),
    /** Lines that mention other threads, as deflated text: they are removed with this row. All others are in `context_lines`. */
    hidden: bytes('hidden'),
    /** Digest of the delivered bytes, with which a rebuilt result is compared. */
    digest: bytes('digest'),
    /** Instead of it, the digest of the elements of a context that was sent as its differences from another. */
    elementDigest: bytes('element_digest'),
    /** The key of the requests that this context may answer; see `prepared-contexts.ts`. */
    preparedKey: text('prepared_key'),
    /** How many contexts in a row were prepared without a request, including this one; 0 for a requested one. */
    preparedCount: integer('prepared_count').notNull().default(0),
    /** The lane of its compactions. */
    lane: text('lane'),
    /** The versions of everything that it depends on. */
    versions: text('versions'),
    /** When the oldest message leaves its window; null if none ever does. */
    holdsUntilMs: time('holds_until'),
    /** How it filled its budget; the thread's next context of the same budget uses the same. */
    fill: text('fill', { enum: ['cache', 'budget'] }),
    /** The sections that it shows, with the number of their entries and their tokens. */
    sections: json('sections').$type<SectionCounts>(),
  },
  (table) => [
    index('contexts_thread').on(table.threadId, table.requestedAtMs),
    index('contexts_requested').on(table.requestedAtMs).where(sql`status = 'requested'`),
    /** The project is the last column: see `messages_project_id`. */
    index('contexts_answered').on(table.requestedAtMs, table.projectId).where(sql`status <> 'requested'`),
    index('contexts_prepared')
      .on(table.threadId, table.preparedKey, table.requestedAtMs)
      .where(sql`prepared_key is not null`),
    ownProjectOnly(table.projectId),
  ],
)

/**
 * The lines of contexts, as references and deltas: each row has what its context does not share with the one it is based on.
 * It may outlive its context, as long as others of its chain need it.
 */
export const contextLines = heddle.table(
  'context_lines',
  {
    /** The id of the context. */
    id: uuid('id').primaryKey(),
    projectId: projectId(),
    threadId: uuid('thread_id').notNull(),
    /** The first of its chain, which has no base. */
    chainId: uuid('chain_id').notNull(),
    baseId: uuid('base_id'),
    /** Rows between it and the first of its chain. */
    depth: integer('depth').notNull(),
    /** Deflated with a dictionary; see `stored-contexts.ts`. */
    delta: bytes('delta').notNull(),
  },
  (table) => [index('context_lines_chain').on(table.threadId, table.chainId), ownProjectOnly(table.projectId)],
)

/** The delivered bytes, for a while, so that reads soon after the build need not rebuild them. */
export const contextDeliveries = heddle.table(
  'context_deliveries',
  {
    contextId: uuid('context_id')
      .primaryKey()
      .references(() => contexts.id, { onDelete: 'cascade' }),
    projectId: projectId(),
    deliveredAtMs: time('delivered_at').notNull().default(now),
    /** The whole result with its receipt, as deflated JSON. */
    result: bytes('result').notNull(),
  },
  (table) => [
    index('context_deliveries_time').on(table.deliveredAtMs, table.projectId),
    ownProjectOnly(table.projectId),
  ],
)

/** The other threads of the agent that a built context mentions. When one of them is erased, so is the context. */
export const contextMentions = heddle.table(
  'context_mentions',
  {
    threadId: uuid('thread_id').notNull(),
    contextId: uuid('context_id')
      .notNull()
      .references(() => contexts.id, { onDelete: 'cascade' }),
    projectId: projectId(),
  },
  (table) => [
    primaryKey({ columns: [table.threadId, table.contextId] }),
    index('context_mentions_context').on(table.contextId),
    ownProjectOnly(table.projectId),
  ],
)

/**
 * A saved window with its summary (docs/snapshots.md): requested, then saved or failed. As with contexts, the row is the
 * reply.
 */
export const snapshots = heddle.table(
  'snapshots',
  {
    id: uuid('id').primaryKey(),
    projectId: projectId(),
    agentId: uuid('agent_id').notNull(),
    createdAtMs: time('created_at').notNull().default(now),
    status: text('status', { enum: ['requested', 'saved', 'failed'] })
      .notNull()
      .default('saved'),
    /** When the caller stops waiting; the window is not saved after it. */
    deadlineAtMs: time('deadline_at'),
    /** Why it failed. */
    error: json('error').$type<ErrorData>(),
    description: text('description'),
    summary: text('summary'),
    /** Why the summarizer failed: there is no summary, or one that was made without a model. */
    summaryError: text('summary_error'),
    messageCount: integer('message_count').notNull().default(0),
    windowStartMs: time('window_start'),
    windowEndMs: time('window_end'),
    /** `files`: the content is also in a file with the name below. */
    storedIn: text('stored_in', { enum: ['files', 'postgres'] })
      .notNull()
      .default('postgres'),
    fileName: text('file_name').notNull(),
    /** The whole file (docs/snapshots.md#saving), as deflated JSON. */
    content: bytes('content'),
    /** When its messages were last restored: a repeated restore within minutes uses the same positions. */
    restoredAtMs: time('restored_at'),
    /** The threads whose messages it contains. */
    threadIds: uuid('thread_ids').array().notNull().default([]),
    /** The summary was removed with an erased thread or message that it was created from, and the assemble stage makes another. */
    needsSummary: boolean('needs_summary').notNull().default(false),
    /** Messages that were removed from it by erasures. */
    erasedCount: integer('erased_count').notNull().default(0),
  },
  (table) => [
    index('snapshots_history').on(table.agentId, table.createdAtMs, table.id).where(sql`status = 'saved'`),
    index('snapshots_of_agent').on(table.agentId),
    index('snapshots_requested').on(table.createdAtMs).where(sql`status = 'requested'`),
    index('snapshots_unsummarized').on(table.createdAtMs).where(sql`needs_summary`),
    index('snapshots_saved').on(table.createdAtMs).where(sql`status = 'saved'`),
    ownProjectOnly(table.projectId),
  ],
)
