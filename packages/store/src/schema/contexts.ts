import type { ContextRequest, ErrorData } from '@heddle/contracts'
import { sql } from 'drizzle-orm'
import { bigint, boolean, index, integer, json, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, heddle, ownProjectOnly, projectId, time } from './columns.js'

/** A context: requested, then built or failed (DESIGN: replies). The row is the reply; events only point at it. */
export const contexts = heddle.table(
  'contexts',
  {
    id: uuid('id').primaryKey(),
    projectId: projectId(),
    threadId: uuid('thread_id').notNull(),
    status: text('status', { enum: ['requested', 'built', 'failed'] }).notNull(),
    request: json('request').$type<ContextRequest>().notNull(),
    requestedAt: time('requested_at').notNull().defaultNow(),
    /** The requester gives up then; past it nobody builds the context. */
    deadlineAt: time('deadline_at').notNull(),
    builtAt: time('built_at'),
    error: json('error').$type<ErrorData>(),
    stateId: uuid('state_id'),
    agentVersion: integer('agent_version'),
    headSeq: bigint('head_seq', { mode: 'number' }),
    budget: integer('budget'),
    tokensUsed: integer('tokens_used'),
    summaryUsed: boolean('summary_used'),
    /** The whole result with its receipt, as deflated JSON. */
    result: bytes('result'),
  },
  (table) => [
    index('contexts_thread').on(table.threadId, table.requestedAt),
    index('contexts_requested').on(table.requestedAt).where(sql`status = 'requested'`),
    /** The project stands last: see `messages_project_id`. */
    index('contexts_answered').on(table.requestedAt, table.projectId).where(sql`status <> 'requested'`),
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

/** A saved window with its summary (spec 000). */
export const snapshots = heddle.table(
  'snapshots',
  {
    id: uuid('id').primaryKey(),
    projectId: projectId(),
    agentId: uuid('agent_id').notNull(),
    createdAt: time('created_at').notNull().defaultNow(),
    description: text('description'),
    summary: text('summary').notNull(),
    messageCount: integer('message_count').notNull(),
    windowStart: time('window_start'),
    windowEnd: time('window_end').notNull(),
    fileName: text('file_name').notNull(),
    /** The whole file in spec 000's form, as deflated JSON. */
    content: bytes('content').notNull(),
    /** The threads whose messages it holds. */
    threadIds: uuid('thread_ids').array().notNull().default([]),
    /** The summary was taken away with a thread that it was made from. */
    needsSummary: boolean('needs_summary').notNull().default(false),
  },
  (table) => [index('snapshots_history').on(table.agentId, table.createdAt), ownProjectOnly(table.projectId)],
)
