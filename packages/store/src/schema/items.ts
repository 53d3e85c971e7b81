import type { JsonObject } from '@heddle/contracts'
import { boolean, foreignKey, integer, json, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core'
import { agents } from './agents.js'
import { bytes, createdAt, heddle, ownProjectOnly, projectId } from './columns.js'
import { threads } from './threads.js'

/** A rule, a reference or a tool that an agent may include (docs/items.md). Contexts refer to items and never copy them. */
export const items = heddle.table(
  'items',
  {
    id: uuid('id').primaryKey(),
    projectId: projectId(),
    agentId: uuid('agent_id')
      .notNull()
      .references(() => agents.id, { onDelete: 'cascade' }),
    type: text('type', { enum: ['rule', 'reference', 'tool'] }).notNull(),
    name: text('name').notNull(),
    /** The MCP server of a tool; empty for rules and references. */
    serverName: text('server_name').notNull().default(''),
    version: integer('version').notNull().default(1),
    createdAtMs: createdAt(),
  },
  (table) => [
    unique('items_name').on(table.agentId, table.type, table.serverName, table.name),
    ownProjectOnly(table.projectId),
  ],
)

export const itemVersions = heddle.table(
  'item_versions',
  {
    itemId: uuid('item_id').notNull(),
    version: integer('version').notNull(),
    projectId: projectId(),
    description: text('description'),
    text: text('text').notNull().default(''),
    /** A tool's input schema, as its server returned it. */
    inputSchema: json('input_schema').$type<JsonObject>(),
    /** Null on a tool: the mode of its server. */
    include: text('include', { enum: ['always', 'manual', 'agent'] }),
    priorityLevel: integer('priority_level'),
    contentHash: bytes('content_hash').notNull(),
    /** Set on the version that removed the item. */
    erased: boolean('erased').notNull().default(false),
    createdAtMs: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.itemId, table.version] }),
    foreignKey({ columns: [table.itemId], foreignColumns: [items.id] }).onDelete('cascade'),
    ownProjectOnly(table.projectId),
  ],
)

/** The include mode of all tools of an MCP server that set none themselves. */
export const toolServers = heddle.table(
  'tool_servers',
  {
    agentId: uuid('agent_id')
      .notNull()
      .references(() => agents.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    projectId: projectId(),
    include: text('include', { enum: ['always', 'manual', 'agent'] })
      .notNull()
      .default('always'),
    createdAtMs: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.name] }), ownProjectOnly(table.projectId)],
)

/** The items of a thread, as append-only versions: added at its start or manually, removed manually. */
export const threadItems = heddle.table(
  'thread_items',
  {
    threadId: uuid('thread_id')
      .notNull()
      .references(() => threads.id, { onDelete: 'cascade' }),
    itemId: uuid('item_id').notNull(),
    version: integer('version').notNull(),
    projectId: projectId(),
    includeMode: text('include_mode', { enum: ['always', 'manual'] }).notNull(),
    removed: boolean('removed').notNull().default(false),
    createdAtMs: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.threadId, table.itemId, table.version] }), ownProjectOnly(table.projectId)],
)
