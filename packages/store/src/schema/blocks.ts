import { blockChanges, blockGrantModes } from '@heddle/contracts'
import { sql } from 'drizzle-orm'
import { boolean, foreignKey, index, integer, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core'
import { agents } from './agents.js'
import { createdAt, heddle, ownProjectOnly, projectId } from './columns.js'
import { projects } from './projects.js'
import { threads } from './threads.js'

/** A thread, an agent, or the project where both are null. */
const ownerId = () => uuid('owner_id').generatedAlwaysAs(sql`coalesce(thread_id, agent_id, project_id)`).notNull()

/** The current versions of memory blocks (docs/blocks.md). Its rows are locked by changes, which run one after another. */
export const memoryBlocks = heddle.table(
  'memory_blocks',
  {
    projectId: projectId().references(() => projects.projectId, { onDelete: 'cascade' }),
    agentId: uuid('agent_id').references(() => agents.id, { onDelete: 'cascade' }),
    threadId: uuid('thread_id').references(() => threads.id, { onDelete: 'cascade' }),
    ownerId: ownerId(),
    label: text('label').notNull(),
    /** 0 until the transaction that creates the block has added its first version. */
    version: integer('version').notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.ownerId, table.label] }),
    index('memory_blocks_agent').on(table.agentId).where(sql`agent_id is not null`),
    index('memory_blocks_thread').on(table.threadId).where(sql`thread_id is not null`),
    ownProjectOnly(table.projectId),
  ],
)

/** Append-only, so that the version in a receipt can be shown later, and every change undone. */
export const memoryBlockVersions = heddle.table(
  'memory_block_versions',
  {
    projectId: projectId(),
    agentId: uuid('agent_id'),
    threadId: uuid('thread_id'),
    ownerId: ownerId(),
    label: text('label').notNull(),
    version: integer('version').notNull(),
    description: text('description').notNull(),
    value: text('value').notNull(),
    /** Most characters of the value. */
    charactersMax: integer('characters_max').notNull(),
    readOnly: boolean('read_only').notNull(),
    /** Set on the version that removed the block. */
    removed: boolean('removed').notNull().default(false),
    change: text('change', { enum: blockChanges }).notNull(),
    /** Derived from the caller's idempotency key, if any: a repeated request returns the same version. */
    requestId: uuid('request_id'),
    /** The agent that made it through a grant; null for changes in the owner's name. Not a foreign key: it may be erased. */
    writtenBy: uuid('written_by'),
    /** The moment of the change, and not of the beginning of its transaction: see `context-blocks.ts`. */
    createdAtMs: createdAt(sql`clock_timestamp()`),
  },
  (table) => [
    primaryKey({ columns: [table.ownerId, table.label, table.version] }),
    unique('memory_block_versions_request').on(table.ownerId, table.label, table.requestId),
    index('memory_block_versions_thread').on(table.threadId).where(sql`thread_id is not null`),
    foreignKey({
      columns: [table.ownerId, table.label],
      foreignColumns: [memoryBlocks.ownerId, memoryBlocks.label],
      name: 'memory_block_versions_block',
    }).onDelete('cascade'),
    ownProjectOnly(table.projectId),
  ],
)

/**
 * Append-only, so that contexts can show a block as it was shared at their last compaction. Of each grant the latest versions are
 * kept, and one with the number 0 for those before them.
 */
export const memoryBlockGrants = heddle.table(
  'memory_block_grants',
  {
    projectId: projectId(),
    /** The agent that the block is shared with. */
    granteeAgentId: uuid('grantee_agent_id')
      .notNull()
      .references(() => agents.id, { onDelete: 'cascade' }),
    /** The agent whose block it is. */
    ownerId: uuid('owner_id').notNull(),
    label: text('label').notNull(),
    version: integer('version').notNull(),
    /** Null for the version that revoked the grant. */
    mode: text('mode', { enum: blockGrantModes }),
    /** As of versions of blocks. */
    createdAtMs: createdAt(sql`clock_timestamp()`),
  },
  (table) => [
    primaryKey({ columns: [table.granteeAgentId, table.ownerId, table.label, table.version] }),
    index('memory_block_grants_owner').on(table.ownerId, table.label),
    foreignKey({
      columns: [table.ownerId, table.label],
      foreignColumns: [memoryBlocks.ownerId, memoryBlocks.label],
      name: 'memory_block_grants_block',
    }).onDelete('cascade'),
    ownProjectOnly(table.projectId),
  ],
)
