import 'vitest'

/** What the servers' setup tells the test files. */
export interface TestServers {
  /** Names everything that this run creates, so that it can be removed and other runs are left alone. */
  runId: string
  postgresUrl: string
  redisUrl: string | null
  /** Why there is no Redis, for the titles of what is left out. */
  redisMissing: string | null
}

declare module 'vitest' {
  interface ProvidedContext {
    testServers: TestServers
  }
}

/** Databases of a run begin with this; Postgres and tests both read names in lower case. */
export function databasePrefix(runId: string): string {
  return `heddle_test_${runId}_`
}

/** Redis keys of a run begin with this; BullMQ allows no colon in it. */
export function keyPrefix(runId: string): string {
  return `heddle-test-${runId}-`
}
