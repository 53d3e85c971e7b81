import type { ContextRequest, ErrorData } from '@heddle/contracts'
import { sql } from 'drizzle-orm'
import { bigint, boolean, index, integer, json, text, uuid } from 'drizzle-orm/pg-core'
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
    /** The messages in spec 000's form, as deflated JSON. */
    content: bytes('content').notNull(),
  },
  (table) => [index('snapshots_history').on(table.agentId, table.createdAt), ownProjectOnly(table.projectId)],
)
