import { sql } from 'drizzle-orm'
import { boolean, index, integer, json, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core'
import { bytes, heddle, now, ownProjectOnly, projectId, time } from './columns.js'
import type { ContentBlocks } from './content-blocks.js'

/** The full contents of condensed messages (docs/search.md#the-archive), by the message's reference. */
export const archive = heddle.table(
  'archive',
  {
    id: uuid('id').primaryKey(),
    projectId: projectId(),
    threadId: uuid('thread_id').notNull(),
    messageId: uuid('message_id').notNull(),
    /** Where in the message the content is, such as `tool-2` for the input of a call; empty for its whole text. */
    location: text('location').notNull().default(''),
    contentType: text('content_type').notNull(),
    summary: text('summary').notNull(),
    /** Of a content of `archive_contents`; null where the content is the text of the message, which is stored once, with it. */
    contentHash: bytes('content_hash'),
    filePaths: text('file_paths').array().notNull().default(sql`'{}'`),
    toolName: text('tool_name'),
    tokenCount: integer('token_count').notNull(),
    /** Whether the tool reported that it failed. */
    failed: boolean('failed').notNull().default(false),
    originalCreatedAtMs: time('original_created_at').notNull(),
    archivedAtMs: time('archived_at').notNull().default(now),
    lastAccessedAtMs: time('last_accessed_at'),
    accessCount: integer('access_count').notNull().default(0),
  },
  (table) => [
    unique('archive_message').on(table.threadId, table.messageId, table.location),
    index('archive_newest').on(table.threadId, table.originalCreatedAtMs, table.id),
    index('archive_kind').on(table.projectId, table.contentType, table.originalCreatedAtMs),
    ownProjectOnly(table.projectId),
  ],
)

/** Archived content, compressed, once per distinct content within a project. */
export const archiveContents = heddle.table(
  'archive_contents',
  {
    projectId: projectId(),
    /** SHA-256 of the content. */
    hash: bytes('hash').notNull(),
    /** Brotli. */
    content: bytes('content').notNull(),
    /** The separately compressed blocks of a long content; null if it is not split. */
    blocks: json('blocks').$type<ContentBlocks>(),
    sizeBytes: integer('size_bytes').notNull(),
    referenceCount: integer('reference_count').notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.hash] }), ownProjectOnly(table.projectId)],
)
