/// <reference path="./pg.d.ts" />
import { assertSchemaCompatibility, LATEST_SCHEMA_VERSION, runMigrations } from 'bullmq'
import pg from 'pg'
import { bounds } from '../base/bounds.js'
import { namedError } from '../base/errors.js'
import { PREFIXES_NAMED_MAX, unknownPrefix } from '../base/unknown-prefix.js'
import { settles } from '../base/waiting.js'
import { createFunctions } from './functions.js'
import type { SqlClient } from './sql-client.js'

const SUFFIX = '_queue'

/** The schema with BullMQ's tables of a prefix, beside Heddle's own. BullMQ does not allow hyphens in its name. */
export function schemaOf(prefix: string): string {
  return `${prefix.replaceAll('-', '_')}${SUFFIX}`
}

export interface MigrateQueuesOptions {
  /** A connection with the privilege to create a schema, which that of the services may lack. */
  url: string
  prefix: string
  /** A role that is granted the privileges of the services, such as `heddle_app`. */
  grantTo?: string
}

/** See `migrateQueues` of the package. */
export async function migrateQueues({ url, prefix, grantTo }: MigrateQueuesOptions): Promise<void> {
  const schema = schemaOf(prefix)
  await withClient(url, async (client) => {
    // Checked first, because CREATE SCHEMA IF NOT EXISTS needs the privilege to create one even if it exists.
    if ((await currentVersion(client, schema)) < LATEST_SCHEMA_VERSION) {
      await runMigrations(client, schema)
      // A payload is written once, read once and deleted: compressing it takes longer than all other work on the job.
      await client.query(`ALTER TABLE "${schema}".job ALTER COLUMN data SET STORAGE EXTERNAL`)
    }
    await createFunctions(client, schema)
    if (grantTo !== undefined) await grant(client, schema, grantTo)
  })
}

/**
 * Checks that the queues of a prefix exist, for a process that only sends: a schema created for a mistyped prefix would hold
 * jobs that no worker processes.
 *
 * @throws PermanentError `NOT_FOUND` with the existing prefixes
 */
export async function assertServed({ url, prefix }: { url: string; prefix: string }): Promise<void> {
  await withClient(url, async (client) => {
    // BullMQ's schemas are recognized by their table of migrations beside that of jobs.
    const { rows } = await client.query<{ schema: string }>(
      `SELECT jobs.schemaname AS schema FROM pg_tables AS jobs JOIN pg_tables AS ledger USING (schemaname)
       WHERE jobs.tablename = 'job' AND ledger.tablename = 'migration' AND jobs.schemaname LIKE '%\\_queue' ORDER BY 1`,
    )
    const schemas = rows.map(({ schema }) => schema)
    if (schemas.includes(schemaOf(prefix))) return
    const others = schemas.map((schema) => schema.slice(0, -SUFFIX.length)).slice(0, PREFIXES_NAMED_MAX)
    throw unknownPrefix(prefix, 'Postgres', others)
  })
}

export async function dropSchema(url: string, prefix: string): Promise<void> {
  await withClient(url, (client) => client.query(`DROP SCHEMA IF EXISTS "${schemaOf(prefix)}" CASCADE`))
}

export async function withClient<T>(url: string, work: (client: SqlClient) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: bounds.connectMs })
  // A connection lost between two queries is reported here; the next query fails anyway.
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } catch (error) {
    throw namedError(error, 'Postgres')
  } finally {
    await settles(client.end(), bounds.connectMs)
  }
}

async function currentVersion(client: SqlClient, schema: string): Promise<number> {
  try {
    return await assertSchemaCompatibility(client, schema)
  } catch (error) {
    // The schema has no table of migrations, or does not exist.
    if (error instanceof Error && error.name === 'SchemaMigrationRequiredError') return 0
    if (error instanceof Error && 'code' in error && error.code === '3F000') return 0
    throw error
  }
}

async function grant(client: SqlClient, schema: string, role: string): Promise<void> {
  const quoted = `"${role.replaceAll('"', '""')}"`
  // Two concurrent grants on one schema fail; the lock ends with the connection.
  await client.query(`SELECT pg_advisory_lock(hashtext($1))`, [`grants on ${schema}`])
  // BullMQ creates a sequence for each queue when its first jobs are added.
  await client.query(`GRANT USAGE, CREATE ON SCHEMA "${schema}" TO ${quoted}`)
  await client.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schema}" TO ${quoted}`)
  await client.query(`GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA "${schema}" TO ${quoted}`)
  await client.query(`GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA "${schema}" TO ${quoted}`)
}
