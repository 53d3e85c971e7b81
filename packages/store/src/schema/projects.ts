import { bigint, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { bytes, createdAt, heddle, ownProjectOnly, projectId, time } from './columns.js'

/** The unit of isolation. Its id is derived from its name, so that queries need no lookup first. */
export const projects = heddle.table(
  'projects',
  {
    projectId: uuid('project_id').primaryKey(),
    name: text('name').notNull().unique(),
    /** Number of the project's latest event; its row lock gives the event log its order. */
    eventNumber: bigint('event_number', { mode: 'number' }).notNull().default(0),
    createdAtMs: createdAt(),
  },
  (table) => [ownProjectOnly(table.projectId)],
)

export const apiKeys = heddle.table(
  'api_keys',
  {
    id: uuid('id').primaryKey(),
    projectId: projectId().references(() => projects.projectId, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    role: text('role', { enum: ['produce', 'read', 'agent', 'admin'] }).notNull(),
    /** SHA-256 of the key: the key itself is shown once and never stored. */
    hash: bytes('hash').notNull(),
    /** The mode of the proxy for requests with this key; null leaves it to the agent and the configuration. */
    proxyMode: text('proxy_mode', { enum: ['observe', 'stub', 'compact'] }),
    createdAtMs: createdAt(),
    /** To the minute: a request does not wait until its use of the key is stored. */
    lastUsedAtMs: time('last_used_at'),
    revokedAtMs: time('revoked_at'),
  },
  (table) => [uniqueIndex('api_keys_hash').on(table.hash), ownProjectOnly(table.projectId)],
)

/** A grant is active once an admin of each project has agreed: the grantor offered it, the grantee accepted it. */
export const grants = heddle.table(
  'grants',
  {
    id: uuid('id').primaryKey(),
    projectId: projectId().references(() => projects.projectId, { onDelete: 'cascade' }),
    /** Without a reference: the project may be in another database. */
    granteeProjectId: uuid('grantee_project_id').notNull(),
    scope: text('scope', { enum: ['recall'] }).notNull(),
    createdAtMs: createdAt(),
    acceptedAtMs: time('accepted_at'),
    revokedAtMs: time('revoked_at'),
  },
  (table) => [
    uniqueIndex('grants_pair').on(table.projectId, table.granteeProjectId, table.scope),
    ownProjectOnly(table.projectId),
  ],
)
