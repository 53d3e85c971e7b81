import { doublePrecision, integer, json, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { agents } from './agents.js'
import { heddle, now, ownProjectOnly, projectId, time } from './columns.js'

/** By role: the ratio of messages of this role, and the requests that it was learnt from. */
export type CalibratedKinds = Readonly<Record<string, { readonly ratio: number; readonly samples: number }>>

/**
 * How a provider counts the requests of an agent to a model (docs/formats.md#calibration). It is computed from the newest replies
 * that name their contexts; `ratio`, `offset` and `margin` are in force, and change only when what was learnt differs enough.
 */
export const calibrations = heddle.table(
  'calibrations',
  {
    agentId: uuid('agent_id')
      .notNull()
      .references(() => agents.id, { onDelete: 'cascade' }),
    model: text('model').notNull(),
    projectId: projectId(),
    provider: text('provider').notNull(),
    ratio: doublePrecision('ratio').notNull(),
    offset: integer('offset').notNull(),
    margin: doublePrecision('margin').notNull(),
    /** When they came into force. */
    changedAtMs: time('changed_at').notNull().default(now),
    learntRatio: doublePrecision('learnt_ratio').notNull(),
    learntOffset: integer('learnt_offset').notNull(),
    learntMargin: doublePrecision('learnt_margin').notNull(),
    samples: integer('samples').notNull(),
    kinds: json('kinds').$type<CalibratedKinds>().notNull().default({}),
    learntAtMs: time('learnt_at').notNull().default(now),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.model] }), ownProjectOnly(table.projectId)],
)
