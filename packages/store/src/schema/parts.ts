import { sql } from 'drizzle-orm'
import { index, integer, primaryKey } from 'drizzle-orm/pg-core'
import { bytes, createdAt, heddle, ownProjectOnly, projectId } from './columns.js'

/** The unchanged bytes of images, documents and sounds, once per distinct content within a project. */
export const partContents = heddle.table(
  'part_contents',
  {
    projectId: projectId(),
    /** SHA-256 of the content. */
    hash: bytes('hash').notNull(),
    content: bytes('content').notNull(),
    sizeBytes: integer('size_bytes').notNull(),
    /** Parts of messages that refer to it. */
    referenceCount: integer('reference_count').notNull().default(0),
    createdAtMs: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.hash] }),
    index('part_contents_unused').on(table.projectId, table.createdAtMs).where(sql`reference_count = 0`),
    ownProjectOnly(table.projectId),
  ],
)
