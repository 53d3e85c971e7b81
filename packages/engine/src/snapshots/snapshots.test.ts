import { ConflictError, RetryableError } from '@heddle/contracts'
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

test('a saved snapshot of the same key does not answer a request before the two were compared', async () => {
  let refuse = (_: unknown) => {}
  const compared = new Promise((_, reject) => {
    refuse = reject
  })
  let read = async (): Promise<unknown> => undefined
  let transactions = 0
  const parts = {
    projectId: projectIdOf('p'),
    clock: new ManualClock(),
    store: { inProject: () => (transactions++ === 0 ? compared : Promise.resolve({ status: 'saved' })) },
    queues: {
      acquireShare: () => () => {},
      expectReply: (expectation: { readonly read: () => Promise<unknown> }) => {
        read = expectation.read
        return { result: new Promise(() => {}), cancel: () => {} }
      },
    },
  } as unknown as EngineContext
  const saving = saveSnapshot(parts, { agent: 'coder' }, { idempotencyKey: 'one' })
  await expect.poll(() => transactions).toBe(1)
  // The row that the repeated key names is read while the request takes long.
  expect(await read()).toBeUndefined()
  refuse(new ConflictError('this idempotency key was used'))
  await expect(saving).rejects.toMatchObject({ code: 'CONFLICT' })
})
