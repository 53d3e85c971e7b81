import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { processorTimes, shareOfOthers } from './machine-load.js'

test('the share of others is what is used beyond the own time', () => {
  const before = { total: 100, idle: 40, own: 10 }
  expect(shareOfOthers(before, { total: 120, idle: 44, own: 22 })).toBeCloseTo(0.2)
  expect(shareOfOthers(before, { total: 120, idle: 59, own: 12 })).toBe(0)
  expect(shareOfOthers(before, { total: 120, idle: 44, own: null })).toBeNull()
})

test.runIf(process.platform === 'linux')('the time of children counts as own, also after they ended', async () => {
  const before = await processorTimes()
  const busy =
    'const end = process.cpuUsage().user + 3e5; while (process.cpuUsage().user < end) for (let n = 0; n < 1e6; n++);'
  spawnSync(process.execPath, ['--eval', busy])
  const after = await processorTimes()
  expect((after.own ?? 0) - (before.own ?? 0)).toBeGreaterThanOrEqual(0.25)
})
