import type { FileEvent, Role, StoredPart, ThinkingBlock, ToolCall } from '@heddle/contracts'
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  doublePrecision,
  index,
  integer,
  json,
  primaryKey,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core'
import { bytes, code, createdAt, heddle, ownProjectOnly, projectId, time } from './columns.js'
import { threads } from './threads.js'

/**
 * Append-only (docs/design.md#invariant-2). Every key begins with `thread_id`, so that the table can be partitioned by its hash.
 * Objects are `json`, not `jsonb`: it keeps their text, order of keys included, and takes NUL characters.
 */
export const messages = heddle.table(
  'messages',
  {
    threadId: uuid('thread_id').notNull(),
    seq: bigint('seq', { mode: 'number' }).notNull(),
    projectId: projectId(),
    id: uuid('id').notNull(),
    code: code('code').notNull(),
    role: text('role').$type<Role>().notNull(),
    content: text('content').notNull(),
    /** Postgres texts cannot hold NUL or lone surrogates: such a content is stored as its JSON escape. */
    contentEscaped: boolean('content_escaped').notNull().default(false),
    /** Images, documents and sounds: what is known of them, and the hashes of their bytes. */
    parts: json('parts').$type<StoredPart[]>(),
    thinking: json('thinking').$type<ThinkingBlock[]>(),
    toolCalls: json('tool_calls').$type<ToolCall[]>(),
    toolCallId: text('tool_call_id'),
    toolName: text('tool_name'),
    isError: boolean('is_error').notNull().default(false),
    /** The time that the client gave, as it gave it. */
    sentAtMs: time('sent_at'),
    /** Place in the conversation, with `ordinal` and `id`: see `comparePositions` in core. */
    orderedAtMs: time('ordered_at').notNull(),
    ordinal: integer('ordinal').notNull(),
    /**
     * The latest `ordered_at` of the thread up to this `seq`, of a message that came late; null where it is the message's own.
     * It never falls, so the messages of a window are counted by halving.
     */
    latestAtMs: time('latest_at'),
    receivedAtMs: time('received_at').notNull(),
    sourceId: text('source_id'),
    model: text('model'),
    usage: json('usage').$type<Record<string, unknown>>(),
    contextId: uuid('context_id'),
    pinned: boolean('pinned').notNull().default(false),
    keptAside: text('kept_aside'),
    metadata: json('metadata').$type<Record<string, unknown>>(),
    tokensEstimate: integer('tokens_estimate').notNull(),
    /** Hash over the fields that the client gave: the same for a repeat, different for a conflict. */
    fingerprint: bytes('fingerprint').notNull(),
    /**
     * Of a mark that a restore left: the `seq` of the message that it brings back. A mark has a place and no content; what it
     * shows is read from that message.
     */
    restoresSeq: bigint('restores_seq', { mode: 'number' }),
  },
  (table) => [
    primaryKey({ columns: [table.threadId, table.seq] }),
    /** Ids are found by their codes, which follow from them (see `byId`), and are unique in a thread for the same reason. */
    unique('messages_code').on(table.threadId, table.code),
    index('messages_order').on(table.threadId, table.orderedAtMs, table.ordinal, table.id),
    index('messages_late').on(table.threadId, table.orderedAtMs).where(sql`ordered_at < latest_at`),
    index('messages_restored').on(table.threadId, table.restoresSeq, table.seq).where(sql`restores_seq is not null`),
    /** By a hash of 4 bytes: a tree of the texts would be two to three times as large. Their project is compared in the rows. */
    index('messages_source').using('hash', table.sourceId).where(sql`source_id is not null`),
    /** Those that never enter a context. */
    index('messages_aside')
      .on(table.threadId, table.orderedAtMs)
      .where(sql`kept_aside is not null or role in ('error', 'approval')`),
    ownProjectOnly(table.projectId),
  ],
)

/**
 * Exact counts of the o200k counter, filled in by the prune stage: a message's own row never changes. A row holds those of a
 * run of messages, which costs a tenth of a row for each: the first is that of message `seq`, the next that of `seq + 1`.
 */
export const messageTokens = heddle.table(
  'message_tokens',
  {
    threadId: uuid('thread_id').notNull(),
    seq: bigint('seq', { mode: 'number' }).notNull(),
    projectId: projectId(),
    tokens: integer('tokens').array().notNull(),
    /** The part of each that the message's reasoning takes; null where no message of the run has any. */
    reasoning: integer('reasoning').array(),
  },
  (table) => [primaryKey({ columns: [table.threadId, table.seq] }), ownProjectOnly(table.projectId)],
)

/**
 * One step of an autonomous run (docs/iterations.md). Its output is the content of the message with its id, which is kept aside:
 * so it is embedded, found, recalled and remembered as any message.
 */
export const iterations = heddle.table(
  'iterations',
  {
    threadId: uuid('thread_id')
      .notNull()
      .references(() => threads.id, { onDelete: 'cascade' }),
    number: integer('number').notNull(),
    projectId: projectId(),
    id: uuid('id').notNull(),
    /** The message with its output; null of an iteration that was stored before they had messages. */
    seq: bigint('seq', { mode: 'number' }),
    happenedAtMs: time('happened_at').notNull(),
    cliUsed: text('cli_used'),
    modelUsed: text('model_used'),
    prompt: text('prompt').notNull(),
    /** Only of an iteration without a message. */
    output: text('output'),
    /** The texts of this row are stored as their JSON escapes where one of them holds what Postgres texts cannot. */
    textsEscaped: boolean('texts_escaped').notNull().default(false),
    progressScore: doublePrecision('progress_score'),
    progressMarkers: json('progress_markers').$type<string[]>().notNull().default([]),
    fileChanges: json('file_changes').$type<string[]>().notNull().default([]),
    fileEvents: json('file_events').$type<FileEvent[]>().notNull().default([]),
    durationSeconds: doublePrecision('duration_seconds'),
    /** That of the message is its own; only of an iteration without a message. */
    fingerprint: bytes('fingerprint'),
    createdAtMs: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.threadId, table.number] }),
    unique('iterations_id').on(table.threadId, table.id),
    ownProjectOnly(table.projectId),
  ],
)
