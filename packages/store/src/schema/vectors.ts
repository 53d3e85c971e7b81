import { sql } from 'drizzle-orm'
import { bigint, foreignKey, index, integer, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, heddle, ownProjectOnly, projectId } from './columns.js'
import { items } from './items.js'

/**
 * How far a thread has vectors of a model: its cursor for that model. A thread has a row for each model by which any of it
 * was embedded, so that search goes on with the one while the other catches up.
 */
export const vectorThreads = heddle.table(
  'vector_threads',
  {
    threadId: uuid('thread_id').notNull(),
    model: text('model').notNull(),
    projectId: projectId(),
    agentId: uuid('agent_id').notNull(),
    /** Messages up to it have their vectors. */
    toSeq: bigint('to_seq', { mode: 'number' }).notNull(),
    chunks: integer('chunks').notNull(),
    /** Grows when messages are erased: vectors that a process holds in memory are read again. */
    erasedCount: integer('erased_count').notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.threadId, table.model] }),
    index('vector_threads_scope').on(table.agentId, table.model),
    index('vector_threads_model').on(table.model),
    ownProjectOnly(table.projectId),
  ],
)

/**
 * Vectors of a thread's messages. A row holds those of many chunks one after another: a row for each would take half as much
 * again. A chunk is a range of its message's text, not a copy of it.
 */
export const vectors = heddle.table(
  'vectors',
  {
    threadId: uuid('thread_id').notNull(),
    model: text('model').notNull(),
    /** Chunks of the thread and the model that were there before: tells the rows of a thread apart. */
    firstChunk: integer('first_chunk').notNull(),
    projectId: projectId(),
    chunks: integer('chunks').notNull(),
    /** The newest message of which the row holds a chunk. */
    toSeq: bigint('to_seq', { mode: 'number' }).notNull(),
    /** Which message and which range each chunk is: see `packPlaces` in core. */
    places: bytes('places').notNull(),
    /** One signed byte a dimension, as many for each chunk. */
    embedding: bytes('embedding').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.threadId, table.model, table.firstChunk] }),
    /** Rows that wait to be put together with others. */
    index('vectors_small').on(table.threadId, table.model).where(sql`chunks < 16`),
    ownProjectOnly(table.projectId),
  ],
)

/** Vectors of an item's text, made when it is first looked for and again when it has changed. */
export const itemVectors = heddle.table(
  'item_vectors',
  {
    itemId: uuid('item_id').notNull(),
    model: text('model').notNull(),
    projectId: projectId(),
    /** Hash of the whole text that was embedded: another one means that the item changed. */
    contentHash: bytes('content_hash').notNull(),
    /** Eight bytes of the hash of each chunk: a chunk that stays is not embedded again. */
    chunkHashes: bytes('chunk_hashes').notNull(),
    places: bytes('places').notNull(),
    embedding: bytes('embedding').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.itemId, table.model] }),
    foreignKey({ columns: [table.itemId], foreignColumns: [items.id] }).onDelete('cascade'),
    ownProjectOnly(table.projectId),
  ],
)
