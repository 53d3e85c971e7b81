import postgres from 'postgres'
import { appliedMigrations, knownMigrations } from './migrate.js'
import { fromPostgres } from './postgres-errors.js'
import type { Store } from './store.js'
import { inspectPgvector, type PgvectorState } from './vector-points.js'

export interface ServerHealth {
  /** `15.4`, as the server says. */
  readonly version: string
  /** 150004 for 15.4. */
  readonly versionNumber: number
  readonly connectionsMax: number
  readonly connectionsOpen: number
  readonly login: string
  /** Whether the login could see every project, were it not for the role that it takes. */
  readonly isSuperuser: boolean
  readonly roleExists: boolean
  /** Whether the login may work as `heddle_app`, which it must. */
  readonly mayTakeRole: boolean
  /** Names of the migrations that the database has seen and of those that it lacks. */
  readonly migrationsApplied: string[]
  readonly migrationsPending: string[]
  readonly extensions: string[]
  readonly pgvector: PgvectorState
}

/**
 * Looks at a server for `heddle doctor`, on a connection of its own that needs no schema.
 *
 * @throws RetryableError `SERVICE_UNAVAILABLE`, PermanentError `UNAUTHORIZED`
 */
export async function inspectServer({ url }: { url: string }): Promise<ServerHealth> {
  const sql = postgres(url, {
    max: 1,
    connect_timeout: 10,
    connection: { application_name: 'heddle doctor' },
    onnotice: () => {},
  })
  try {
    const [server] = await sql<Omit<ServerHealth, 'migrationsApplied' | 'migrationsPending' | 'pgvector'>[]>`
      select
        current_setting('server_version') as version,
        current_setting('server_version_num')::integer as "versionNumber",
        current_setting('max_connections')::integer as "connectionsMax",
        (select count(*)::integer from pg_stat_activity where backend_type = 'client backend') as "connectionsOpen",
        current_user as login,
        current_setting('is_superuser')::boolean as "isSuperuser",
        exists (select from pg_roles where rolname = 'heddle_app') as "roleExists",
        coalesce(
          (select pg_has_role(current_user, oid, case when current_setting('server_version_num')::integer >= 160000
            then 'SET' else 'MEMBER' end) from pg_roles where rolname = 'heddle_app'),
          false) as "mayTakeRole",
        array(select extname::text from pg_extension order by extname) as extensions`
    if (server === undefined) throw new Error('the server answered with no row')
    const applied = await appliedMigrations(sql)
    const known = knownMigrations()
    return {
      ...server,
      migrationsApplied: known.filter(({ hash }) => applied.has(hash)).map(({ name }) => name),
      pgvector: await inspectPgvector(sql),
      migrationsPending: known.filter(({ hash }) => !applied.has(hash)).map(({ name }) => name),
    }
  } catch (error) {
    throw fromPostgres(error)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/**
 * @throws RetryableError `SERVICE_UNAVAILABLE`, with the hint to run `heddle migrate`, where a database has no tables of
 *   Heddle; nothing in it is changed
 */
export async function assertMigrated(store: Store): Promise<void> {
  await store.asReconciler((tx) => tx`select from heddle.stage_cursors limit 0`)
}
