import { sql } from 'drizzle-orm'
import { customType, type PgColumn, pgPolicy, pgRole, pgSchema, uuid } from 'drizzle-orm/pg-core'

/** All tables are in a separate schema, so that Heddle can share a database. */
export const heddle = pgSchema('heddle')

/** The role of every service: it owns nothing and is subject to row-level security. */
export const heddleApp = pgRole('heddle_app').existing()

const settingOfProject = sql`nullif(current_setting('heddle.project_id', true), '')::uuid`

/** The project of the current transaction, set by `Store.inProject`; without it no row is visible. */
export const currentProject = sql`(select ${settingOfProject})`

/** The policy of each table: a row can only be read and written by its own project (docs/design.md#invariant-11). */
export const ownProjectOnly = (projectId: PgColumn) =>
  pgPolicy('own_project_only', {
    for: 'all',
    to: heddleApp,
    using: sql`${projectId} = ${currentProject}`,
    withCheck: sql`${projectId} = ${currentProject}`,
  })

/** Defaults to the project of the transaction, so that no insert needs to name it. */
export const projectId = () => uuid('project_id').notNull().default(settingOfProject)

/** Times are stored to the millisecond, which JavaScript represents without loss, and read as milliseconds since 1970. */
export const time = customType<{ data: number; driverData: string }>({
  dataType: () => 'timestamp (3) with time zone',
})

export const now = sql`now()`

export const createdAt = (moment = now) => time('created_at').notNull().default(moment)

export const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'bytea' })

/** Short codes compare byte by byte whatever the database's locale, so that a prefix is a range of the index. */
export const code = customType<{ data: string; driverData: string }>({ dataType: () => 'text collate "C"' })
