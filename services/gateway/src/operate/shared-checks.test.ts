import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { SharedChecks } from './shared-checks.js'

test('the checks run once for all callers of two seconds, and again after a failure', async () => {
  const clock = new ManualClock()
  let runs = 0
  const checks = new SharedChecks(async () => {
    if (++runs === 2) throw new Error('away')
    return [{ name: `run ${runs}`, status: 'ok' as const, detail: '' }]
  }, clock)
  const first = await Promise.all([checks.read(), checks.read(), checks.read()])
  expect(first.map(([finding]) => finding?.name)).toEqual(['run 1', 'run 1', 'run 1'])
  await clock.advance(1_999)
  expect((await checks.read())[0]?.name).toBe('run 1')
  await clock.advance(1)
  await expect(checks.read()).rejects.toThrow('away')
  expect((await checks.read())[0]?.name).toBe('run 3')
})
