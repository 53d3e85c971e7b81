import type { RequestDelta } from '@heddle/core'
import { boolean, doublePrecision, index, integer, json, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, createdAt, heddle, ownProjectOnly, projectId } from './columns.js'

/** Requests to providers that the proxy relayed, in figures: no contents, headers or credentials. */
export const proxiedRequests = heddle.table(
  'proxied_requests',
  {
    id: uuid('id').primaryKey(),
    projectId: projectId(),
    threadId: uuid('thread_id').notNull(),
    thread: text('thread').notNull(),
    /** The name of the upstream in the configuration. */
    upstream: text('upstream').notNull(),
    protocol: text('protocol', { enum: ['anthropic', 'openai-chat', 'openai-responses'] }).notNull(),
    model: text('model').notNull(),
    /** The mode that was asked for, however the request was sent, and who said so. */
    mode: text('mode', { enum: ['observe', 'stub', 'compact'] }).notNull(),
    modeSource: text('mode_source', { enum: ['header', 'key', 'thread', 'agent', 'configuration'] })
      .notNull()
      .default('configuration'),
    /** Whether its conversation stays unchanged for comparison. */
    isControl: boolean('is_control').notNull(),
    epoch: integer('epoch').notNull(),
    reasons: text('reasons').array().notNull(),
    /** Why it was sent as it came against its mode. */
    passed: text('passed'),
    entries: integer('entries').notNull(),
    /** Results that were sent shortened. */
    stubs: integer('stubs').notNull(),
    /** Entries in whose place a summary was sent. */
    coveredEntries: integer('covered_entries').notNull(),
    /** Estimated. */
    tokensReceived: integer('tokens_received').notNull(),
    tokensSent: integer('tokens_sent').notNull(),
    tokensCached: integer('tokens_cached').notNull(),
    /** As the provider counted; null without its count. */
    inputTokens: integer('input_tokens'),
    cacheReadTokens: integer('cache_read_tokens'),
    cacheWriteTokens: integer('cache_write_tokens'),
    outputTokens: integer('output_tokens'),
    /** Null without a count, or without known prices. */
    costUsd: doublePrecision('cost_usd'),
    /** The estimated cost of the request as it came. */
    directCostUsd: doublePrecision('direct_cost_usd'),
    /** Texts that the model recalled by the proxy's own tool, and what the further requests for them cost; part of `cost_usd`. */
    recalls: integer('recalls').notNull().default(0),
    recallCostUsd: doublePrecision('recall_cost_usd'),
    /** 0 if there was no reply. */
    status: integer('status').notNull(),
    addedMs: doublePrecision('added_ms').notNull(),
    firstByteMs: doublePrecision('first_byte_ms'),
    createdAtMs: createdAt(),
  },
  (table) => [
    index('proxied_requests_thread').on(table.threadId, table.createdAtMs, table.id),
    index('proxied_requests_project').on(table.projectId, table.createdAtMs, table.id),
    index('proxied_requests_created').on(table.createdAtMs),
    ownProjectOnly(table.projectId),
  ],
)

/**
 * The parts of a relayed request: references to stored messages, and to the texts that were sent in place of some. A row has
 * those that its request does not share with the one it is based on, and is never changed. It may outlive the figures of its
 * request, as long as its thread has others.
 */
export const proxiedViews = heddle.table(
  'proxied_views',
  {
    /** The id of the request. */
    id: uuid('id').primaryKey(),
    projectId: projectId(),
    threadId: uuid('thread_id').notNull(),
    /** Null for one that repeats everything. */
    baseId: uuid('base_id'),
    /** Rows between it and one without a base. */
    depth: integer('depth').notNull(),
    delta: json('delta').$type<RequestDelta>().notNull(),
    /** Of the bodies: bytes and SHA-256. */
    bytesReceived: integer('bytes_received').notNull(),
    bytesSent: integer('bytes_sent').notNull(),
    hashReceived: bytes('hash_received').notNull(),
    hashSent: bytes('hash_sent').notNull(),
  },
  (table) => [index('proxied_views_thread').on(table.threadId), ownProjectOnly(table.projectId)],
)

/** Texts of relayed requests that are no messages, once for each thread: tools, instructions, parameters, stubs and covers. */
export const proxiedTexts = heddle.table(
  'proxied_texts',
  {
    threadId: uuid('thread_id').notNull(),
    hash: text('hash').notNull(),
    projectId: projectId(),
    kind: text('kind', { enum: ['head', 'stub', 'cover'] }).notNull(),
    /** The message that a stub stands for. */
    messageId: uuid('message_id'),
    /** The context that a cover is from. */
    contextId: uuid('context_id'),
    text: text('text').notNull(),
    createdAtMs: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.threadId, table.hash] }), ownProjectOnly(table.projectId)],
)
