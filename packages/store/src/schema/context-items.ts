import { bigint, index, integer, primaryKey, real, text, uuid } from 'drizzle-orm/pg-core'
import { heddle, now, ownProjectOnly, projectId, time } from './columns.js'

/**
 * The items that a built context showed, and which of them its reply used: what `items stats` counts. One row for a context
 * and not one for each of its items, since most contexts of a thread show the same dozen. It outlives its context, and goes
 * with its thread.
 */
export const contextItems = heddle.table(
  'context_items',
  {
    contextId: uuid('context_id').notNull(),
    projectId: projectId(),
    threadId: uuid('thread_id').notNull(),
    agentId: uuid('agent_id').notNull(),
    builtAtMs: time('built_at').notNull().default(now),
    /** These five are of one length: the i-th of each is of the i-th item. */
    itemIds: uuid('item_ids').array().notNull(),
    versions: integer('versions').array().notNull(),
    /** `always`, `manual` or `agent`. */
    modes: text('modes').array().notNull(),
    /** Null where nothing was judged. */
    scores: real('scores').array().notNull(),
    tokens: integer('tokens').array().notNull(),
    /** The message that answers the context; null where none came yet. */
    answeredSeq: bigint('answered_seq', { mode: 'number' }),
    /** Those of the items that the answer used, as far as its turn was read. */
    usedIds: uuid('used_ids').array().notNull().default([]),
  },
  (table) => [
    primaryKey({ columns: [table.contextId] }),
    index('context_items_newest').on(table.agentId, table.builtAtMs),
    index('context_items_answers').on(table.threadId, table.answeredSeq),
    /** The project stands last: see `messages_project_id`. */
    index('context_items_built').on(table.builtAtMs, table.projectId),
    ownProjectOnly(table.projectId),
  ],
)
