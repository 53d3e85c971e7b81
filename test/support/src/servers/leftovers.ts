import { Redis } from 'ioredis'
import postgres from 'postgres'
import { databasePrefix, keyPrefix } from '../provided.js'

const KEYS_PER_SCAN = 1_000

/** Removes the databases that tests of a run have left, so that a given server is as before. */
export async function removeDatabases(url: string, runId: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    const rows = await sql<{ datname: string }[]>`
      SELECT datname FROM pg_database WHERE starts_with(datname, ${databasePrefix(runId)})`
    for (const { datname } of rows) await sql`DROP DATABASE IF EXISTS ${sql(datname)} WITH (FORCE)`
  } finally {
    await sql.end()
  }
}

/** Removes the keys that tests of a run have left. */
export async function removeKeys(url: string, runId: string): Promise<void> {
  const redis = new Redis(url)
  try {
    for await (const keys of redis.scanStream({ match: `*${keyPrefix(runId)}*`, count: KEYS_PER_SCAN })) {
      if (keys.length > 0) await redis.unlink(...(keys as string[]))
    }
  } finally {
    redis.disconnect()
  }
}
