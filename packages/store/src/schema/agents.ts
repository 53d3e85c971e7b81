import type { PartialSettings } from '@heddle/contracts'
import { bigint, foreignKey, integer, json, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core'
import { createdAt, heddle, ownProjectOnly, projectId, time } from './columns.js'
import { projects } from './projects.js'

export const agents = heddle.table(
  'agents',
  {
    id: uuid('id').primaryKey(),
    projectId: projectId().references(() => projects.projectId, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    /** The current version of prompt, docs and settings: a row of `agent_versions`. */
    version: integer('version').notNull().default(1),
    /** Increases by one with each clear; a compaction that started before a clear is void (docs/design.md#invariant-9). */
    clearEpoch: integer('clear_epoch').notNull().default(0),
    lastClearedAtMs: time('last_cleared_at'),
    createdAtMs: createdAt(),
  },
  (table) => [unique('agents_name').on(table.projectId, table.name), ownProjectOnly(table.projectId)],
)

/** Append-only, so that the version in a receipt can be shown later. */
export const agentVersions = heddle.table(
  'agent_versions',
  {
    agentId: uuid('agent_id').notNull(),
    version: integer('version').notNull(),
    projectId: projectId(),
    systemPrompt: text('system_prompt').notNull().default(''),
    docs: json('docs').$type<{ name: string; text: string }[]>().notNull().default([]),
    settings: json('settings').$type<PartialSettings>().notNull().default({}),
    createdAtMs: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.version] }),
    foreignKey({ columns: [table.agentId], foreignColumns: [agents.id] }).onDelete('cascade'),
    ownProjectOnly(table.projectId),
  ],
)

/**
 * Each clear, with the time in the request and, as `created_at`, the time of its arrival: it takes effect from the earlier of
 * the two. Its effect on each thread is in `thread_clears`.
 */
export const agentClears = heddle.table(
  'agent_clears',
  {
    agentId: uuid('agent_id').notNull(),
    epoch: integer('epoch').notNull(),
    projectId: projectId(),
    clearedAtMs: time('cleared_at').notNull(),
    /** Derived from the caller's idempotency key, if any: a repeated request returns the same clear. */
    requestId: uuid('request_id'),
    createdAtMs: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.epoch] }),
    unique('agent_clears_request').on(table.agentId, table.requestId),
    foreignKey({ columns: [table.agentId], foreignColumns: [agents.id] }).onDelete('cascade'),
    ownProjectOnly(table.projectId),
  ],
)

/** The head of each thread at a clear: only later messages are eligible. */
export const threadClears = heddle.table(
  'thread_clears',
  {
    threadId: uuid('thread_id').notNull(),
    epoch: integer('epoch').notNull(),
    projectId: projectId(),
    headSeq: bigint('head_seq', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.threadId, table.epoch] }), ownProjectOnly(table.projectId)],
)
