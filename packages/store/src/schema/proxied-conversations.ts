import type { EpochState, EpochTexts, StoredStub } from '@heddle/contracts'
import { sql } from 'drizzle-orm'
import { index, integer, json, text, uuid } from 'drizzle-orm/pg-core'
import { heddle, now, ownProjectOnly, projectId, time } from './columns.js'

/**
 * States of conversations that are relayed, by which another process sends the same bytes again. Contents are in `texts`
 * alone.
 */
export const proxiedConversations = heddle.table(
  'proxied_conversations',
  {
    threadId: uuid('thread_id').primaryKey(),
    projectId: projectId(),
    thread: text('thread').notNull(),
    /** Chain of the last request, by which the next one is recognized; null if each request names the thread. */
    chain: text('chain'),
    /** A hash of the client's session, of which a thread is one conversation; null without one. */
    session: text('session'),
    /** Chain of the first entry of the last request that is no instruction, and a hash of the instructions. */
    begin: text('begin'),
    instructions: text('instructions'),
    /** Counts the writes: each names the version that it replaces. */
    version: integer('version').notNull(),
    state: json('state').$type<EpochState>().notNull(),
    stubs: json('stubs').$type<readonly StoredStub[]>().notNull(),
    texts: json('texts').$type<EpochTexts>(),
    /** To the hour, so that most writes change no index. */
    usedAtMs: time('used_at').notNull().default(now),
  },
  (table) => [
    index('proxied_conversations_chain').on(table.projectId, table.chain).where(sql`chain is not null`),
    index('proxied_conversations_session').on(table.projectId, table.session).where(sql`session is not null`),
    index('proxied_conversations_used').on(table.usedAtMs),
    ownProjectOnly(table.projectId),
  ],
)
