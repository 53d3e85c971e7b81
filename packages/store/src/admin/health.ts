import postgres from 'postgres'
import { fromPostgres } from '../connection/postgres-errors.js'
import type { Store } from '../store.js'
import { inspectPgvector, type PgvectorState } from '../vectors/vector-points.js'
import { appliedHashes, knownMigrations } from './migration-files.js'

/** A limit of connections, in addition to that of the server. */
export interface ConnectionLimit {
  readonly of: 'role' | 'database'
  readonly name: string
  readonly max: number
  readonly open: number
}

export interface ConnectionFigures {
  readonly connectionsMax: number
  readonly connectionsOpen: number
  /** The limits of the login role and of the database, if set. */
  readonly connectionLimits: readonly ConnectionLimit[]
}

export interface ServerHealth extends ConnectionFigures {
  /** As reported by the server, such as `15.4`. */
  readonly version: string
  /** 150004 for 15.4. */
  readonly versionNumber: number
  /** The server's time of day minus that of this machine, in milliseconds. */
  readonly clockSkewMs: number
  readonly login: string
  /** Whether the login itself could read every project; transactions still work as `heddle_app`. */
  readonly isSuperuser: boolean
  readonly roleExists: boolean
  /** Whether the login may work as `heddle_app`, which it must. */
  readonly mayTakeRole: boolean
  /** Names of the applied and of the missing migrations. */
  readonly migrationsApplied: string[]
  readonly migrationsPending: string[]
  readonly extensions: string[]
  readonly pgvector: PgvectorState
}

/**
 * Inspects a server for `heddle doctor`, on a connection of its own that needs no schema.
 *
 * @throws RetryableError `SERVICE_UNAVAILABLE`, PermanentError `UNAUTHORIZED`
 */
export async function inspectServer({ url }: { url: string }): Promise<ServerHealth> {
  return await onServer(url, async (sql) => {
    const [server] = await sql<Omit<ServerHealth, Measured>[]>`
      select
        current_setting('server_version') as version,
        current_setting('server_version_num')::integer as "versionNumber",
        current_user as login,
        current_setting('is_superuser')::boolean as "isSuperuser",
        exists (select from pg_roles where rolname = 'heddle_app') as "roleExists",
        coalesce(
          (select pg_has_role(current_user, oid, case when current_setting('server_version_num')::integer >= 160000
            then 'SET' else 'MEMBER' end) from pg_roles where rolname = 'heddle_app'),
          false) as "mayTakeRole",
        array(select extname::text from pg_extension order by extname) as extensions`
    if (server === undefined) throw new Error('the server answered with no row')
    const { databaseName, userName } = addressOf(sql)
    const applied = await appliedHashes(sql)
    const known = knownMigrations(applied)
    return {
      ...server,
      ...(await readFigures(sql, userName, databaseName)),
      clockSkewMs: await measureSkew(sql),
      migrationsApplied: known.filter(({ hash }) => applied.has(hash)).map(({ name }) => name),
      pgvector: await inspectPgvector(sql),
      migrationsPending: known.filter(({ hash }) => !applied.has(hash)).map(({ name }) => name),
    }
  })
}

type Measured = keyof ConnectionFigures | 'clockSkewMs' | 'migrationsApplied' | 'migrationsPending' | 'pgvector'

/**
 * Current connections and their limits, for the login and the database of `url`.
 *
 * @param adminUrl used if `url` gets no connection: the server reserves some for administrators
 */
export async function inspectConnections({
  url,
  adminUrl,
}: {
  url: string
  adminUrl: string
}): Promise<ConnectionFigures> {
  const { username, pathname } = new URL(url)
  const names = [username, pathname.slice(1)].map(decodeURIComponent) as [string, string]
  return await onServer(adminUrl, (sql) => readFigures(sql, ...names))
}

interface FiguresRow extends Omit<ConnectionFigures, 'connectionLimits'> {
  /** Negative without a limit; null without the role. */
  readonly roleMax: number | null
  readonly roleOpen: number
  readonly databaseMax: number | null
  readonly databaseOpen: number
}

async function readFigures(sql: postgres.Sql, userName: string, databaseName: string): Promise<ConnectionFigures> {
  const [row] = await sql<FiguresRow[]>`
    select
      current_setting('max_connections')::integer as "connectionsMax",
      count(*)::integer as "connectionsOpen",
      (select rolconnlimit from pg_roles where rolname = ${userName}) as "roleMax",
      (count(*) filter (where usename = ${userName}))::integer as "roleOpen",
      (select datconnlimit from pg_database where datname = ${databaseName}) as "databaseMax",
      (count(*) filter (where datname = ${databaseName}))::integer as "databaseOpen"
    from pg_stat_activity where backend_type = 'client backend'`
  if (row === undefined) throw new Error('the server answered with no row')
  const { connectionsMax, connectionsOpen, roleMax, roleOpen, databaseMax, databaseOpen } = row
  const limit = (of: ConnectionLimit['of'], name: string, max: number | null, open: number) =>
    max === null || max < 0 ? [] : [{ of, name, max, open }]
  return {
    connectionsMax,
    connectionsOpen,
    connectionLimits: [
      ...limit('role', userName, roleMax, roleOpen),
      ...limit('database', databaseName, databaseMax, databaseOpen),
    ],
  }
}

function addressOf(sql: postgres.Sql): { userName: string; databaseName: string } {
  return { userName: sql.options.user, databaseName: sql.options.database }
}

/** How far the server's clock is ahead of this one, in milliseconds, assuming that it was read in the middle of the round trip. */
async function measureSkew(sql: postgres.Sql): Promise<number> {
  const startedMs = Date.now()
  const startedAt = performance.now()
  const [row] = await sql<{ nowMs: number }[]>`
    select extract(epoch from clock_timestamp())::float8 * 1000 as "nowMs"`
  const halfWayMs = (performance.now() - startedAt) / 2
  return Math.round((row?.nowMs ?? startedMs) - (startedMs + halfWayMs))
}

async function onServer<T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, {
    max: 1,
    connect_timeout: 10,
    connection: { application_name: 'heddle doctor' },
    onnotice: () => {},
  })
  try {
    return await work(sql)
  } catch (error) {
    throw fromPostgres(error)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** The time of day of the database's machine, in milliseconds since 1970. */
export async function readServerClock(store: Store): Promise<number> {
  return await store.asReconciler(async (tx) => {
    const [row] = await tx<{ nowMs: number }[]>`
      select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms`
    if (row === undefined) throw new Error('the server answered with no row')
    return row.nowMs
  })
}

/**
 * @throws RetryableError `SERVICE_UNAVAILABLE`, with the hint to run `heddle migrate`, if the database has no tables of
 *   Heddle; nothing in it is changed
 */
export async function assertMigrated(store: Store): Promise<void> {
  await store.asReconciler((tx) => tx`select from heddle.stage_cursors limit 0`)
}
