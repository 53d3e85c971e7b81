import type { ErrorData } from '@heddle/contracts'
import { sql } from 'drizzle-orm'
import { bigint, index, integer, json, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core'
import { createdAt, heddle, ownProjectOnly, projectId, time } from './columns.js'

/** The log that subscribers resume from. Numbers are given out under the project's row lock, so no late commit is skipped. */
export const events = heddle.table(
  'events',
  {
    projectId: projectId(),
    number: bigint('number', { mode: 'number' }).notNull(),
    topic: text('topic').notNull(),
    threadId: uuid('thread_id'),
    subjectId: uuid('subject_id'),
    headSeq: bigint('head_seq', { mode: 'number' }),
    createdAt: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.number] }), ownProjectOnly(table.projectId)],
)

/** Jobs that failed for good, to be inspected and redriven. A job that names no project stands under the nil UUID. */
export const deadLetters = heddle.table(
  'dead_letters',
  {
    id: uuid('id').primaryKey(),
    projectId: projectId(),
    stage: text('stage').notNull(),
    jobId: text('job_id').notNull(),
    threadId: uuid('thread_id'),
    payload: json('payload').notNull(),
    error: json('error').$type<ErrorData>().notNull(),
    attempts: integer('attempts').notNull(),
    failedAt: time('failed_at').notNull().defaultNow(),
    redrivenAt: time('redriven_at'),
  },
  (table) => [
    unique('dead_letters_job').on(table.projectId, table.stage, table.jobId),
    index('dead_letters_open').on(table.projectId, table.failedAt).where(sql`redriven_at is null`),
    ownProjectOnly(table.projectId),
  ],
)

/** What was erased: redelivered jobs and publications under way for it are refused. */
export const tombstones = heddle.table(
  'tombstones',
  {
    targetId: uuid('target_id').notNull(),
    kind: text('kind', { enum: ['project', 'agent', 'thread'] }).notNull(),
    projectId: projectId(),
    createdAt: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.targetId, table.kind] }), ownProjectOnly(table.projectId)],
)
