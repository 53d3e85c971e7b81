import type { ContextRequest, ErrorData } from '@heddle/contracts'
import { sql } from 'drizzle-orm'
import { bigint, boolean, index, integer, json, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, heddle, now, ownProjectOnly, projectId, time } from './columns.js'

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
    /** The requester gives up then; past it nobody builds the context. */
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
    /** The moment that the context shows: what was there then, and the window up to then. */
    shownAtMs: time('shown_at'),
    /** Lines of it that tell of other threads, as deflated text: they go with this row. All others are in `context_lines`. */
    hidden: bytes('hidden'),
    /** Of the delivered bytes: what is rebuilt is compared with it. */
    digest: bytes('digest'),
    /** What a later request must ask for to be answered with this context; see `prepared-contexts.ts`. */
    preparedKey: text('prepared_key'),
    /** How many contexts in a row were prepared without being asked for, this one included; 0 for one that was. */
    preparedCount: integer('prepared_count').notNull().default(0),
    /** The lane of its compactions. */
    lane: text('lane'),
    /** Of all that it was made of. */
    versions: text('versions'),
    /** When the oldest message of its window leaves it; null where none ever does. */
    holdsUntilMs: time('holds_until'),
    /** How it filled its budget; the thread's next context of the same budget goes by it. */
    fill: text('fill', { enum: ['cache', 'budget'] }),
  },
  (table) => [
    index('contexts_thread').on(table.threadId, table.requestedAtMs),
    index('contexts_requested').on(table.requestedAtMs).where(sql`status = 'requested'`),
    /** The project stands last: see `messages_project_id`. */
    index('contexts_answered').on(table.requestedAtMs, table.projectId).where(sql`status <> 'requested'`),
    index('contexts_prepared')
      .on(table.threadId, table.preparedKey, table.requestedAtMs)
      .where(sql`prepared_key is not null`),
    ownProjectOnly(table.projectId),
  ],
)

/**
 * What contexts are made of, as references and deltas: each row holds what its context does not share with the one it is
 * based on. It may outlive its context, for as long as others of its chain need it.
 */
export const contextLines = heddle.table(
  'context_lines',
  {
    /** Of the context. */
    id: uuid('id').primaryKey(),
    projectId: projectId(),
    threadId: uuid('thread_id').notNull(),
    /** The first of its chain, which is based on none. */
    chainId: uuid('chain_id').notNull(),
    baseId: uuid('base_id'),
    /** Rows between it and the first of its chain. */
    depth: integer('depth').notNull(),
    /** Deflated with a dictionary; see `stored-contexts.ts`. */
    delta: bytes('delta').notNull(),
  },
  (table) => [index('context_lines_chain').on(table.threadId, table.chainId), ownProjectOnly(table.projectId)],
)

/** The bytes that were delivered, for a while: a requester that comes soon need not wait until they are rebuilt. */
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

/** The other threads of the agent that a built context tells of. When one of them is erased, so is the context. */
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
 * A saved window with its summary (docs/snapshots.md): requested, then saved or failed. The row is the reply, as that of a
 * context.
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
    /** The requester gives up then; past it nobody saves the window. */
    deadlineAtMs: time('deadline_at'),
    /** Why it failed. */
    error: json('error').$type<ErrorData>(),
    description: text('description'),
    summary: text('summary'),
    /** Why there is no summary, where the summarizer failed. */
    summaryError: text('summary_error'),
    messageCount: integer('message_count').notNull().default(0),
    windowStartMs: time('window_start'),
    windowEndMs: time('window_end'),
    /** Whether a file stands beside the row, under the name below. */
    storedIn: text('stored_in', { enum: ['files', 'postgres'] })
      .notNull()
      .default('postgres'),
    fileName: text('file_name').notNull(),
    /** The whole file (docs/snapshots.md#saving), as deflated JSON. */
    content: bytes('content'),
    /** When its messages were last brought back: what is brought back again within minutes takes the same places. */
    restoredAtMs: time('restored_at'),
    /** The threads whose messages it holds. */
    threadIds: uuid('thread_ids').array().notNull().default([]),
    /** The summary was taken away with a thread that it was made from. */
    needsSummary: boolean('needs_summary').notNull().default(false),
    /** Messages that were taken out of it with threads that were erased. */
    erasedCount: integer('erased_count').notNull().default(0),
  },
  (table) => [
    index('snapshots_history').on(table.agentId, table.createdAtMs, table.id).where(sql`status = 'saved'`),
    index('snapshots_of_agent').on(table.agentId),
    index('snapshots_requested').on(table.createdAtMs).where(sql`status = 'requested'`),
    index('snapshots_saved').on(table.createdAtMs).where(sql`status = 'saved'`),
    ownProjectOnly(table.projectId),
  ],
)
