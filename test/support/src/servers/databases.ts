import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { inject } from 'vitest'
import { databasePrefix, keyPrefix } from '../provided.js'

/** The address of the run's Postgres, as a user that may create databases. Share nothing there: use {@link freshDatabase}. */
export function postgresUrl(): string {
  return inject('testServers').postgresUrl
}

/** The address of the run's Redis, or null without one. Share nothing there: use {@link freshPrefix}. */
export function redisUrl(): string | null {
  return inject('testServers').redisUrl
}

/** A prefix of Redis keys (and queue names) that no other test uses. All its keys are removed when the run ends. */
export function freshPrefix(): string {
  return `${keyPrefix(inject('testServers').runId)}${randomBytes(4).toString('hex')}`
}

/** A {@link migratedDatabase} has the queues of this prefix, separate from those of other databases. */
export const QUEUE_PREFIX = 'heddle-test'

export interface FreshDatabase {
  name: string
  /** The database as its owner, with all rights. */
  url: string
  /** Removes it, also while clients are connected. */
  drop(): Promise<void>
}

/** Creates an empty database that no other test uses, for tests of migrations. */
export async function freshDatabase(): Promise<FreshDatabase> {
  return createDatabase('template0')
}

/**
 * Creates a database that no other test uses, with the tables of the store and those of the queues of {@link QUEUE_PREFIX}.
 * It is a copy of a database that the run has migrated, which costs less than a tenth of a migration.
 */
export async function migratedDatabase(): Promise<FreshDatabase> {
  migrated ??= makeTemplate()
  return createDatabase(await migrated)
}

/** Created once in each process that runs tests; the first of them migrates. */
let migrated: Promise<string> | undefined

/** Any number that nothing else locks in the database of the run's user. */
const TEMPLATE_LOCK = 4_680_046_801

async function makeTemplate(): Promise<string> {
  const name = `${databasePrefix(inject('testServers').runId)}template`
  await onServer(async (sql) => {
    // The lock ends with the connection.
    await sql`SELECT pg_advisory_lock(${TEMPLATE_LOCK})`
    const found = await sql`SELECT FROM pg_database WHERE datname = ${name}`
    if (found.count > 0) return
    // Under another name until it is complete.
    const draft = await createDatabase('template0')
    const [{ migrate }, { migrateQueues }] = await Promise.all([import('@heddle/store'), import('@heddle/queue')])
    await migrate({ url: draft.url })
    await migrateQueues({ url: draft.url, prefix: QUEUE_PREFIX })
    await sql`ALTER DATABASE ${sql(draft.name)} RENAME TO ${sql(name)}`
  })
  return name
}

async function createDatabase(template: string): Promise<FreshDatabase> {
  const name = databasePrefix(inject('testServers').runId) + randomBytes(6).toString('hex')
  // Copying whole files takes a third of the processor time of the default, which writes each page to the log as well.
  await onServer(
    (sql) => sql`CREATE DATABASE ${sql(name)} ENCODING 'UTF8' TEMPLATE ${sql(template)} STRATEGY file_copy`,
  )
  const url = new URL(postgresUrl())
  url.pathname = `/${name}`
  return {
    name,
    url: url.href,
    drop: () => onServer((sql) => sql`DROP DATABASE IF EXISTS ${sql(name)} WITH (FORCE)`),
  }
}

async function onServer(work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(postgresUrl(), { max: 1, onnotice: () => {} })
  try {
    await work(sql)
  } finally {
    await sql.end()
  }
}
