import { index, integer, text, unique, uuid } from 'drizzle-orm/pg-core'
import { bytes, createdAt, heddle, ownProjectOnly, projectId } from './columns.js'

/**
 * Embedded pieces of messages, archive entries and items. A piece is a range of its source's text, not a copy of it, and
 * every vector carries its model: only vectors of one model are compared.
 */
export const chunks = heddle.table(
  'chunks',
  {
    sourceId: uuid('source_id').notNull(),
    model: text('model').notNull(),
    chunkIndex: integer('chunk_index').notNull(),
    projectId: projectId(),
    sourceKind: text('source_kind', { enum: ['message', 'archive', 'item'] }).notNull(),
    agentId: uuid('agent_id').notNull(),
    /** Null for items, which belong to an agent. */
    threadId: uuid('thread_id'),
    /** Hash of the source's text when it was embedded: another hash means that it changed. */
    contentHash: bytes('content_hash').notNull(),
    fromCharacter: integer('from_character').notNull(),
    toCharacter: integer('to_character').notNull(),
    /** One signed byte a dimension; the vector is unit length before rounding. */
    embedding: bytes('embedding').notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    /** A copy of a thread has messages of the same ids, and items have no thread. */
    unique('chunks_source')
      .on(table.projectId, table.sourceId, table.threadId, table.model, table.chunkIndex)
      .nullsNotDistinct(),
    index('chunks_scope').on(table.agentId, table.model, table.threadId),
    ownProjectOnly(table.projectId),
  ],
)
