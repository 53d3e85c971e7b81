import { PermanentError, RetryableError } from '@heddle/contracts'
import { systemClock } from '@heddle/runtime'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import postgres from 'postgres'
import { CONNECT_TIMEOUT_MS, watchOpening } from '../connection/opening.js'
import { fromPostgres } from '../connection/postgres-errors.js'
import { migratePgvector } from './migrate-pgvector.js'
import {
  appliedHashes,
  EARLIER_FOLDER,
  isOnEarlierChain,
  knownMigrations,
  MIGRATIONS_FOLDER,
  MIGRATIONS_TABLE,
} from './migration-files.js'
import { endVacuumsSoon } from './vacuum-waits.js'

/** Key of an advisory lock that nothing else in the database uses. */
const LOCK_KEY = 4_680_046_800

/**
 * How long a migration waits for a lock of a table at a time. All other work on the table waits behind it meanwhile, also if a
 * backup or a report of hours is what holds the lock.
 */
const TABLE_LOCK_WAIT_MS = 500

export interface MigrateOptions {
  /** Address of the server itself: the lock belongs to a session, which a pooler does not keep. */
  readonly url: string
  readonly log?: { info(fields: object, message: string): void }
  /** How long to wait for another process that migrates, and for the locks of tables. Default 60,000 ms. */
  readonly lockTimeoutMs?: number
}

/**
 * Migrates the database to the schema of this version. Any number of processes may do so at once: one migrates, the others
 * wait and find nothing left to do.
 *
 * @returns the names of the migrations that this call applied or recorded
 * @throws RetryableError `TIMEOUT` if another process held the lock for too long, `SERVICE_UNAVAILABLE` without a server
 * @throws PermanentError `FORBIDDEN` with what a superuser must run first
 */
export async function migrate({ url, log, lockTimeoutMs = 60_000 }: MigrateOptions): Promise<{ applied: string[] }> {
  const opening = watchOpening()
  let closeTimeoutSeconds = 5
  const sql = postgres(url, {
    max: 1,
    max_lifetime: null,
    connect_timeout: CONNECT_TIMEOUT_MS / 1_000,
    connection: { application_name: 'heddle migrate' },
    onnotice: () => {},
    onparameter: opening.opened,
  })
  try {
    await opening.within(sql`select 1`, () => (closeTimeoutSeconds = 0))
    await lock(sql, lockTimeoutMs)
    const before = await appliedHashes(sql)
    if (isOnEarlierChain(before)) await finishEarlierChain(sql, lockTimeoutMs)
    await applyMigrations(sql, MIGRATIONS_FOLDER, lockTimeoutMs)
    // Services may read the applied migrations, so that `heddle doctor` can use their login.
    await sql`grant usage on schema heddle_migrations to heddle_app`
    await sql`grant select on heddle_migrations.applied to heddle_app`
    await migratePgvector(sql, log)
    const after = await appliedHashes(sql)
    const applied = knownMigrations(before).filter(({ hash }) => after.has(hash) && !before.has(hash))
    for (const { name } of applied) log?.info({ migration: name }, 'migration applied')
    return { applied: applied.map(({ name }) => name) }
  } catch (error) {
    throw await withAdvice(sql, fromPostgres(error))
  } finally {
    // Closing the connection releases the lock.
    await sql.end({ timeout: closeTimeoutSeconds })
  }
}

/**
 * Applies all that are pending in one transaction, again and again while a table is locked by others. Services that work meanwhile
 * may have locked a later table of the transaction and wait for an earlier one: then the server ends one of the two.
 */
async function applyMigrations(sql: postgres.Sql, migrationsFolder: string, lockTimeoutMs: number): Promise<void> {
  const endMs = systemClock.monotonicMs() + lockTimeoutMs
  await limitLockWait(sql, Math.min(TABLE_LOCK_WAIT_MS, lockTimeoutMs))
  await sql.unsafe(endVacuumsSoon({ isLocal: false }))
  for (;;) {
    try {
      await applyOnce(sql, migrationsFolder)
      break
    } catch (error) {
      if (!(isLockTimeout(error) || isDeadlock(error)) || systemClock.monotonicMs() >= endMs) throw error
    }
    // Those that waited behind it go first.
    await systemClock.wait(TABLE_LOCK_WAIT_MS)
  }
  await limitLockWait(sql, lockTimeoutMs)
}

async function limitLockWait(sql: postgres.Sql, waitMs: number): Promise<void> {
  await sql`select set_config('lock_timeout', ${`${waitMs}`}, false)`
}

function isLockTimeout(error: unknown): error is postgres.PostgresError {
  return error instanceof postgres.PostgresError && error.code === '55P03'
}

function isDeadlock(error: unknown): error is postgres.PostgresError {
  return error instanceof postgres.PostgresError && error.code === '40P01'
}

/** Drizzle is loaded here: its 200 modules are of no use to processes and threads that do not migrate. */
async function applyOnce(sql: postgres.Sql, migrationsFolder: string): Promise<void> {
  const [{ DrizzleQueryError }, { drizzle }, { migrate: apply }] = await Promise.all([
    import('drizzle-orm/errors'),
    import('drizzle-orm/postgres-js'),
    import('drizzle-orm/postgres-js/migrator'),
  ])
  try {
    await apply(drizzle(sql), { migrationsFolder, ...MIGRATIONS_TABLE })
  } catch (error) {
    throw error instanceof DrizzleQueryError ? error.cause : error
  }
}

/** Records the first migration as applied, once the earlier chain has created the same schema. */
async function finishEarlierChain(sql: postgres.Sql, lockTimeoutMs: number): Promise<void> {
  await applyMigrations(sql, EARLIER_FOLDER, lockTimeoutMs)
  const [first] = readMigrationFiles({ migrationsFolder: MIGRATIONS_FOLDER })
  if (first === undefined) throw new Error(`${MIGRATIONS_FOLDER} holds no migration`)
  await sql`insert into heddle_migrations.applied (hash, created_at) values (${first.hash}, ${first.folderMillis})`
}

async function lock(sql: postgres.Sql, lockTimeoutMs: number): Promise<void> {
  await limitLockWait(sql, lockTimeoutMs)
  try {
    await sql`select pg_advisory_lock(${LOCK_KEY})`
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    throw new RetryableError('TIMEOUT', `another process has been migrating this database for ${lockTimeoutMs} ms`, {
      hint: 'Try again when it is done; pg_stat_activity lists it as "heddle migrate".',
      cause: error,
    })
  }
}

/**
 * Adds the missing privilege to the error of a login that may not create schemas. Migrations report other missing privileges
 * themselves.
 */
async function withAdvice(sql: postgres.Sql, error: unknown): Promise<unknown> {
  if (!(error instanceof PermanentError) || error.code !== 'FORBIDDEN') return error
  const { cause } = error
  if (!(cause instanceof postgres.PostgresError) || !cause.message.includes('for database')) return error
  const [place] = await sql<{ database: string; login: string }[]>`
    select quote_ident(current_database()) as database, quote_ident(current_user) as login`.catch(() => [])
  if (place === undefined) return error
  return new PermanentError('FORBIDDEN', error.message, {
    hint: `Run as a superuser: grant create on database ${place.database} to ${place.login}; or set HEDDLE_ADMIN_DATABASE_URL to a user who may create schemas.`,
    cause,
  })
}
