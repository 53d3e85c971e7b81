import { foreignKey, integer, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core'
import { createdAt, heddle, ownProjectOnly, projectId } from './columns.js'
import { threads } from './threads.js'

/**
 * The summaries of a thread's older iterations (docs/iterations.md), as append-only versions: the highest version of a lane is
 * the current one. A lane is a window with an interval and a length; other lanes do not build on its summaries.
 */
export const progressSummaries = heddle.table(
  'progress_summaries',
  {
    id: uuid('id').notNull().defaultRandom(),
    threadId: uuid('thread_id').notNull(),
    lane: text('lane').notNull(),
    clearEpoch: integer('clear_epoch').notNull(),
    version: integer('version').notNull(),
    projectId: projectId(),
    /** `fold` added one iteration to the previous summary; `regenerate` read all iterations again. */
    kind: text('kind', { enum: ['fold', 'regenerate'] }).notNull(),
    /** The number of iterations at that time. */
    total: integer('total').notNull(),
    /** How many of the first iterations it covers. */
    coveredCount: integer('covered_count').notNull(),
    /** The numbers of the first and the last of them. */
    coveredFrom: integer('covered_from').notNull(),
    coveredTo: integer('covered_to').notNull(),
    summary: text('summary').notNull(),
    summaryTokens: integer('summary_tokens').notNull(),
    summarizer: text('summarizer').notNull(),
    createdAtMs: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.threadId, table.lane, table.clearEpoch, table.version] }),
    foreignKey({ columns: [table.threadId], foreignColumns: [threads.id] }).onDelete('cascade'),
    unique('progress_summaries_id').on(table.id),
    ownProjectOnly(table.projectId),
  ],
)
