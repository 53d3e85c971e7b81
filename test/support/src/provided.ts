import 'vitest'

/** Values that the setup of the servers provides to the test files. */
export interface TestServers {
  /** Prefix of everything that this run creates, so that it can be removed without affecting other runs. */
  runId: string
  postgresUrl: string
  redisUrl: string | null
  /** Why there is no Redis, for the titles of skipped tests. */
  redisMissing: string | null
}

declare module 'vitest' {
  interface ProvidedContext {
    testServers: TestServers
    /** The servers of queues for suites that name none; the first one for those that run on a single one. */
    queueBackends: readonly ('postgres' | 'redis')[]
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
