import { sql } from 'drizzle-orm'
import { bigint, index, integer, json, primaryKey, real, text, uuid } from 'drizzle-orm/pg-core'
import { heddle, now, ownProjectOnly, projectId, time } from './columns.js'

/** By the name of a section: the number of its entries, and their tokens. */
export type SectionCounts = Readonly<Record<string, readonly [count: number, tokens: number]>>

/**
 * The items that a built context showed, and which of them its reply used; `items stats` counts these. One row per context
 * and not per item, because most contexts of a thread show the same dozen. A row outlives its context: that of a context
 * which a message answers stays as long as the thread, as the request context of that message (docs/receipts.md). A context
 * without items has a row only if a message answers it.
 */
export const contextItems = heddle.table(
  'context_items',
  {
    contextId: uuid('context_id').notNull(),
    projectId: projectId(),
    threadId: uuid('thread_id').notNull(),
    agentId: uuid('agent_id').notNull(),
    builtAtMs: time('built_at').notNull().default(now),
    /** These five arrays have the same length: the i-th element of each belongs to the i-th item. */
    itemIds: uuid('item_ids').array().notNull(),
    versions: integer('versions').array().notNull(),
    /** `always`, `manual` or `agent`. */
    modes: text('modes').array().notNull(),
    /** Null if the item was not scored. */
    scores: real('scores').array().notNull(),
    tokens: integer('tokens').array().notNull(),
    sections: json('sections').$type<SectionCounts>(),
    budget: integer('budget'),
    tokensUsed: integer('tokens_used'),
    agentVersion: integer('agent_version'),
    /** The first message that answers the context; null before it. */
    answeredSeq: bigint('answered_seq', { mode: 'number' }),
    /** The items that the answer used, in the part of its turn that was read. */
    usedIds: uuid('used_ids').array().notNull().default([]),
  },
  (table) => [
    primaryKey({ columns: [table.contextId] }),
    index('context_items_newest').on(table.agentId, table.builtAtMs),
    index('context_items_answers').on(table.threadId, table.answeredSeq),
    /** Those that expire. The project is the last column: see `contexts_answered`. */
    index('context_items_unanswered').on(table.builtAtMs, table.projectId).where(sql`answered_seq is null`),
    ownProjectOnly(table.projectId),
  ],
)
