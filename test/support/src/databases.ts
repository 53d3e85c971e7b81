import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { inject } from 'vitest'
import { databasePrefix, keyPrefix } from './provided.js'

/** The address of the run's Postgres, as a user that may create databases. Share nothing there: use {@link freshDatabase}. */
export function postgresUrl(): string {
  return inject('testServers').postgresUrl
}

/** The address of the run's Redis, or null where there is none. Share nothing there: use {@link freshPrefix}. */
export function redisUrl(): string | null {
  return inject('testServers').redisUrl
}

/** A prefix of Redis keys (and queue names) that no other test uses. Whatever is left under it goes when the run ends. */
export function freshPrefix(): string {
  return `${keyPrefix(inject('testServers').runId)}${randomBytes(4).toString('hex')}`
}

export interface FreshDatabase {
  name: string
  /** The database as the user that owns it, who may do anything in it. */
  url: string
  /** Removes it, whoever is still connected. */
  drop(): Promise<void>
}

/** Creates an empty database that no other test uses. */
export async function freshDatabase(): Promise<FreshDatabase> {
  const name = databasePrefix(inject('testServers').runId) + randomBytes(6).toString('hex')
  await onServer((sql) => sql`CREATE DATABASE ${sql(name)} ENCODING 'UTF8' TEMPLATE template0`)
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
