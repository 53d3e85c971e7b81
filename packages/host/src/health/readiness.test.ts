import { RetryableError } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { checkServers } from './readiness.js'

const here = { name: 'Postgres', ping: async () => 'pong' }
const away = { name: 'Redis', ping: () => Promise.reject(new RetryableError('SERVICE_UNAVAILABLE', 'refused')) }
const silent = { name: 'Postgres', ping: () => new Promise(() => {}) }

test('a process is ready when every server answers', async () => {
  await checkServers([here, { ...here, name: 'Redis' }], new ManualClock())
})

test('only servers that are down are named', async () => {
  await expect(checkServers([here, away], new ManualClock())).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    message: 'away: Redis: refused',
    facts: { away: ['Redis'] },
    hint: expect.stringContaining('Redis'),
  })
})

test('a server without an answer counts as down after two seconds, and the others are still named', async () => {
  const clock = new ManualClock()
  const checked = checkServers([silent, away], clock).catch((error: unknown) => error)
  await clock.advance(2_000)
  expect(await checked).toMatchObject({ facts: { away: ['Postgres', 'Redis'] } })
})
