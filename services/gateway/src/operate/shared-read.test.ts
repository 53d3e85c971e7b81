import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { SharedRead } from './shared-read.js'

test('a value is read once for all callers of two seconds, and again after a failure', async () => {
  const clock = new ManualClock()
  let runs = 0
  const checks = new SharedRead<string>(2_000, clock)
  const read = () =>
    checks.read(async () => {
      if (++runs === 2) throw new Error('away')
      return `run ${runs}`
    })
  expect(await Promise.all([read(), read(), read()])).toEqual(['run 1', 'run 1', 'run 1'])
  await clock.advance(1_999)
  expect(await read()).toBe('run 1')
  await clock.advance(1)
  await expect(read()).rejects.toThrow('away')
  expect(await read()).toBe('run 3')
})
