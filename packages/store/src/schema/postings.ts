import { bigint, index, integer, primaryKey, uuid } from 'drizzle-orm/pg-core'
import { bytes, code, heddle, ownProjectOnly, projectId } from './columns.js'

/** How far the words of a thread were indexed, and the short number of the thread in postings. */
export const postingThreads = heddle.table(
  'posting_threads',
  {
    threadId: uuid('thread_id').primaryKey(),
    number: bigint('number', { mode: 'number' }).generatedAlwaysAsIdentity().notNull().unique(),
    projectId: projectId(),
    agentId: uuid('agent_id').notNull(),
    /** Messages up to this `seq` are in a segment, exactly once. */
    toSeq: bigint('to_seq', { mode: 'number' }).notNull().default(0),
    documents: integer('documents').notNull().default(0),
    /** Terms in all documents of the thread. */
    length: bigint('length', { mode: 'number' }).notNull().default(0),
  },
  (table) => [index('posting_threads_agent').on(table.agentId), ownProjectOnly(table.projectId)],
)

/**
 * A scope's words are stored in segments (see `Segment` in core), each written once. Its statistics are the sums over its
 * segments, so that concurrent writers of a scope do not contend for one row. The scope is an agent.
 */
export const postingSegments = heddle.table(
  'posting_segments',
  {
    number: bigint('number', { mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
    projectId: projectId(),
    agentId: uuid('agent_id').notNull(),
    /** Eight segments of one level are merged into one of the next. */
    level: integer('level').notNull(),
    documents: integer('documents').notNull(),
    /** Terms in all documents. */
    length: bigint('length', { mode: 'number' }).notNull(),
    /** Numbers of the threads whose documents it contains. */
    threads: bigint('threads', { mode: 'number' }).array().notNull(),
  },
  (table) => [
    index('posting_segments_scope').on(table.projectId, table.agentId, table.level),
    ownProjectOnly(table.projectId),
  ],
)

/** The sorted terms of a segment, some in each row. */
export const postingBlocks = heddle.table(
  'posting_blocks',
  {
    segment: bigint('segment', { mode: 'number' })
      .notNull()
      .references(() => postingSegments.number, { onDelete: 'cascade' }),
    firstTerm: code('first_term').notNull(),
    projectId: projectId(),
    /** Terms with their postings, deflated. */
    postings: bytes('postings').notNull(),
  },
  (table) => [primaryKey({ columns: [table.segment, table.firstTerm] }), ownProjectOnly(table.projectId)],
)
