import type { FactKind, FactOrigin } from '@heddle/contracts'
import { sql } from 'drizzle-orm'
import { bigint, boolean, index, primaryKey, real, text, uuid } from 'drizzle-orm/pg-core'
import { agents } from './agents.js'
import { heddle, now, ownProjectOnly, projectId, time } from './columns.js'
import { threads } from './threads.js'

/**
 * Known facts, append-only: a row is never changed but for the marks of a correction and a retraction. Whether a later
 * one replaces it is computed when facts are read (`standingsOf` in core).
 */
export const facts = heddle.table(
  'facts',
  {
    agentId: uuid('agent_id')
      .notNull()
      .references(() => agents.id, { onDelete: 'cascade' }),
    id: uuid('id').notNull(),
    projectId: projectId(),
    /** Its scope: null for the agent in all of its threads. */
    threadId: uuid('thread_id').references(() => threads.id, { onDelete: 'cascade' }),
    subject: text('subject').notNull(),
    /** Equal for subjects of the same words: `subjectKey` in core. */
    subjectKey: text('subject_key').notNull(),
    /** In lower case. */
    predicate: text('predicate').notNull(),
    object: text('object').notNull(),
    kind: text('kind').$type<FactKind>().notNull(),
    isNegated: boolean('is_negated').notNull(),
    isSingle: boolean('is_single').notNull(),
    statement: text('statement').notNull(),
    validFromMs: time('valid_from').notNull(),
    validToMs: time('valid_to'),
    recordedAtMs: time('recorded_at').notNull().default(now),
    /** Messages of its thread: with the first of them that is erased, the fact is, too. */
    sources: uuid('sources').array().notNull().default(sql`'{}'`),
    /** The version of the rules, or the model; null for a fact that was put. */
    extractor: text('extractor'),
    confidence: real('confidence').notNull(),
    origin: text('origin').$type<FactOrigin>().notNull(),
    correctedBy: uuid('corrected_by'),
    retractedAtMs: time('retracted_at'),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.id] }),
    index('facts_of_agent').on(table.agentId, table.recordedAtMs, table.id).where(sql`thread_id is null`),
    index('facts_recorded').on(table.agentId, table.recordedAtMs, table.id),
    index('facts_subject').on(table.agentId, table.subjectKey, table.predicate, table.recordedAtMs, table.id),
    index('facts_thread').on(table.threadId, table.recordedAtMs, table.id),
    ownProjectOnly(table.projectId),
  ],
)

/** How often the facts of a scope changed: contexts that show them depend on it. */
export const factScopes = heddle.table(
  'fact_scopes',
  {
    /** The thread, or the agent for facts in all of its threads. */
    scopeId: uuid('scope_id').primaryKey(),
    projectId: projectId(),
    agentId: uuid('agent_id')
      .notNull()
      .references(() => agents.id, { onDelete: 'cascade' }),
    threadId: uuid('thread_id').references(() => threads.id, { onDelete: 'cascade' }),
    changes: bigint('changes', { mode: 'number' }).notNull(),
  },
  (table) => [
    index('fact_scopes_agent').on(table.agentId),
    index('fact_scopes_thread').on(table.threadId).where(sql`thread_id is not null`),
    ownProjectOnly(table.projectId),
  ],
)
