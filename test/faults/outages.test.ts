import { isRedisInstalled } from '@heddle/test-support/servers/test-redis'
import { describe, expect, test } from 'vitest'
import { type OutageCase, runOutage } from './outage.js'

const hasRedis = await isRedisInstalled()
const cases: Omit<OutageCase, 'seconds'>[] = [
  { queues: 'redis', server: 'Redis' },
  { queues: 'redis', server: 'Postgres' },
  { queues: 'postgres', server: 'Postgres' },
]

/** Longer ones: `npm run outages`. */
describe.each(cases)('an outage of $server while the queues are on $queues', ({ queues, server }) => {
  test.skipIf(queues === 'redis' && !hasRedis)(
    "is named by the workers while it lasts, and ends within seconds of the server's return, without a restart",
    async () => {
      const result = await runOutage({ queues, server, seconds: 3 })
      expect(Math.max(result.waitingStored, result.nextStored)).toBeLessThanOrEqual(15)
      expect(new Set(result.readyz.map((name) => name.split(' ')[0]))).toEqual(new Set([server]))
    },
  )
})
