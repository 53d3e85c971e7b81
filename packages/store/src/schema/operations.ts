import type { ErrorData, EventTopic } from '@heddle/contracts'
import { sql } from 'drizzle-orm'
import { bigint, boolean, index, integer, json, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core'
import { bytes, createdAt, heddle, now, ownProjectOnly, projectId, time } from './columns.js'

/** The log that subscribers resume from. Numbers are given out under the project's row lock, so no late commit is skipped. */
export const events = heddle.table(
  'events',
  {
    projectId: projectId(),
    number: bigint('number', { mode: 'number' }).notNull(),
    topic: text('topic').$type<EventTopic>().notNull(),
    threadId: uuid('thread_id'),
    subjectId: uuid('subject_id'),
    headSeq: bigint('head_seq', { mode: 'number' }),
    createdAtMs: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.number] }),
    index('events_thread').on(table.threadId),
    /** One of each thread: the next replaces it. */
    index('events_stored').on(table.threadId).where(sql`topic = 'message.stored'`),
    index('events_subject').on(table.subjectId).where(sql`subject_id is not null`),
    ownProjectOnly(table.projectId),
  ],
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
    /** Where the job names its agent: an ingest job may have failed before there was a thread. */
    agentId: uuid('agent_id'),
    /** As it was received. */
    payload: json('payload').notNull(),
    error: json('error').$type<ErrorData>().notNull(),
    attempts: integer('attempts').notNull(),
    failedAtMs: time('failed_at').notNull().default(now),
    redrivenAtMs: time('redriven_at'),
  },
  (table) => [
    unique('dead_letters_job').on(table.projectId, table.stage, table.jobId),
    index('dead_letters_open').on(table.projectId, table.failedAtMs).where(sql`redriven_at is null`),
    index('dead_letters_redriven').on(table.redrivenAtMs).where(sql`redriven_at is not null`),
    index('dead_letters_thread').on(table.threadId).where(sql`thread_id is not null`),
    index('dead_letters_agent').on(table.agentId).where(sql`agent_id is not null`),
    ownProjectOnly(table.projectId),
  ],
)

/**
 * Erased data: redelivered jobs and publications under way for it are refused. Each row is also the record of its
 * erasure, which goes on in small steps until `finished_at`, in whatever process.
 */
export const tombstones = heddle.table(
  'tombstones',
  {
    /** The id of the project, the agent or the thread; for messages, that of their erasure: see `message_erasures`. */
    targetId: uuid('target_id').notNull(),
    kind: text('kind', { enum: ['project', 'agent', 'thread', 'messages'] }).notNull(),
    projectId: projectId(),
    /** The thread of erased messages. */
    threadId: uuid('thread_id'),
    /** The agent of a thread: what is kept by agent is found by it when the thread's own row is gone. */
    agentId: uuid('agent_id'),
    createdAtMs: createdAt(),
    /** Null while there may be rows left to remove. */
    finishedAtMs: time('finished_at'),
    /** Rows removed so far, by kind: `{ messages: 3, contexts: 1 }`. */
    removed: json('removed').$type<Record<string, number>>().notNull().default({}),
    /** The name is to be free once nothing is left. Then the row refuses nothing more: it is kept under another id. */
    reuse: boolean('reuse').notNull().default(false),
    /** The erased owner of a name that may be used again. */
    freedId: uuid('freed_id'),
    /** Of an erasure of messages: the last snapshot, by id, that it has searched for them. */
    snapshotsTo: uuid('snapshots_to'),
    /** The head of the thread that was erased: a thread that takes its name counts on from there. */
    headSeq: bigint('head_seq', { mode: 'number' }).notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.targetId, table.kind] }),
    index('tombstones_freed').on(table.freedId).where(sql`freed_id is not null`),
    index('tombstones_unfinished').on(table.createdAtMs).where(sql`finished_at is null`),
    index('tombstones_finished').on(table.finishedAtMs).where(sql`finished_at is not null`),
    ownProjectOnly(table.projectId),
  ],
)

/** Ids of messages that were erased with a thread: in a thread that takes its name they are refused. */
export const erasedMessages = heddle.table(
  'erased_messages',
  {
    /** The thread, as in `tombstones`, with which the row goes. */
    targetId: uuid('target_id').notNull(),
    id: uuid('id').notNull(),
    projectId: projectId(),
  },
  (table) => [primaryKey({ columns: [table.targetId, table.id] }), ownProjectOnly(table.projectId)],
)

/**
 * Messages that were erased from a thread that stays. Their rows in `messages` stay as well, with their places and without
 * content. A repeat is recognized by its id there, and by its source here.
 */
export const messageErasures = heddle.table(
  'message_erasures',
  {
    threadId: uuid('thread_id').notNull(),
    messageId: uuid('message_id').notNull(),
    projectId: projectId(),
    seq: bigint('seq', { mode: 'number' }).notNull(),
    /** The erasure, as in `tombstones`. */
    erasureId: uuid('erasure_id').notNull(),
    /** SHA-256 of the id that the message had at its source; null without one. */
    sourceHash: bytes('source_hash'),
  },
  (table) => [
    primaryKey({ columns: [table.threadId, table.messageId] }),
    index('message_erasures_erasure').on(table.erasureId),
    index('message_erasures_source').on(table.threadId, table.sourceHash).where(sql`source_hash is not null`),
    ownProjectOnly(table.projectId),
  ],
)

/**
 * The last start of each task that one process at a time runs, and of restores of files that go on. A task of no project has the
 * nil UUID.
 */
export const turns = heddle.table(
  'turns',
  {
    projectId: projectId(),
    name: text('name').notNull(),
    takenAtMs: time('taken_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.name] }), ownProjectOnly(table.projectId)],
)
