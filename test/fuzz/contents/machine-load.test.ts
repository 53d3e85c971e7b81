import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { ownSeconds, processorTimes, readStatus, shareOfOthers } from './machine-load.js'

const rest = '0 0 0 0 0 0 0 0 0 150 50 20 30 20 0 1'

test('the time of a process is read whatever its name is, with that of its ended children', () => {
  expect(readStatus(`71 (node) S 7 ${rest}`)).toEqual({ pid: 71, parent: 7, seconds: 2.5 })
  expect(readStatus(`71 (a) S (b) 9) S 7 ${rest}`)).toEqual({ pid: 71, parent: 7, seconds: 2.5 })
  expect(readStatus('')).toBeNull()
})

test('own time is that of a process and all its descendants', () => {
  const one = (pid: number, parent: number) => ({ pid, parent, seconds: pid })
  expect(ownSeconds([one(1, 0), one(20, 1), one(300, 20), one(4_000, 1), one(50_000, 2)], 20)).toBe(320)
  expect(ownSeconds([one(1, 0)], 20)).toBeNull()
})

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
