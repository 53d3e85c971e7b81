import { sql } from 'drizzle-orm'
import { customType, type PgColumn, pgPolicy, pgRole, pgSchema, uuid } from 'drizzle-orm/pg-core'

/** All tables stand in a schema of their own, so that Heddle can share a database. */
export const heddle = pgSchema('heddle')

/** The role as which every service works: it owns nothing and row-level security binds it. */
export const heddleApp = pgRole('heddle_app').existing()

const settingOfProject = sql`nullif(current_setting('heddle.project_id', true), '')::uuid`

/** The project of the transaction at hand, set by `Store.inProject`; without it no row is visible. */
export const currentProject = sql`(select ${settingOfProject})`

/** The one policy of each table: a row is seen and written by its own project only (docs/design.md#invariant-11). */
export const ownProjectOnly = (projectId: PgColumn) =>
  pgPolicy('own_project_only', {
    for: 'all',
    to: heddleApp,
    using: sql`${projectId} = ${currentProject}`,
    withCheck: sql`${projectId} = ${currentProject}`,
  })

/** Defaults to the project of the transaction, so that no insert needs to name it. */
export const projectId = () => uuid('project_id').notNull().default(settingOfProject)

/** Times are kept to the millisecond, which JavaScript can hold without loss, and read as milliseconds since 1970. */
export const time = customType<{ data: number; driverData: string }>({
  dataType: () => 'timestamp (3) with time zone',
})

export const now = sql`now()`

export const createdAt = () => time('created_at').notNull().default(now)

export const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'bytea' })

/** Short codes compare byte by byte whatever the database's locale, so that a prefix is a range of the index. */
export const code = customType<{ data: string; driverData: string }>({ dataType: () => 'text collate "C"' })
