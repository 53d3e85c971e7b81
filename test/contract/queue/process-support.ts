import { createLogger } from '@heddle/runtime'

export const log = createLogger({
  level: process.env['HEDDLE_LOG_LEVEL'] === 'debug' ? 'debug' : 'silent',
  name: 'test',
})

/** Short enough for a test to wait for, long enough for a busy machine to renew. */
export const shortLocks = { lockMs: 2_000, stalledEveryMs: 500 }
