import { RetryableError } from '@heddle/contracts'
import { projectIdOf } from '@heddle/core'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import type { EngineContext } from '../setup/options.js'
import { saveSnapshot } from './snapshots.js'

test('a snapshot whose project gets no share of the workers fails at its deadline', async () => {
  const clock = new ManualClock()
  const queues = {
    acquireShare: () => {
      throw new RetryableError('RATE_LIMITED', 'the project has reached its share', { retryAfter: 1 })
    },
  }
  const parts = { queues, clock, projectId: projectIdOf('p') } as unknown as EngineContext
  const saving = saveSnapshot(parts, { agent: 'coder' }, { deadlineMs: 10_000 }).catch((error) => error)
  await clock.advance(11_000)
  expect(await Promise.race([saving, 'still waiting'])).toMatchObject({ code: 'RATE_LIMITED' })
})
