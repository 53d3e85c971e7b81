import { expect, test } from 'vitest'
import { readStatus, treeSeconds } from './process-times.js'

const rest = '0 0 0 0 0 0 0 0 0 150 50 20 30 20 0 1'

test('the time of a process is read whatever its name is, with that of its ended children', () => {
  expect(readStatus(`71 (node) S 7 ${rest}`)).toEqual({ pid: 71, parent: 7, seconds: 2.5 })
  expect(readStatus(`71 (a) S (b) 9) S 7 ${rest}`)).toEqual({ pid: 71, parent: 7, seconds: 2.5 })
  expect(readStatus('')).toBeNull()
})

test('the time of a tree is that of a process and all its descendants', () => {
  const one = (pid: number, parent: number) => ({ pid, parent, seconds: pid })
  expect(treeSeconds([one(1, 0), one(20, 1), one(300, 20), one(4_000, 1), one(50_000, 2)], 20)).toBe(320)
  expect(treeSeconds([one(1, 0)], 20)).toBeNull()
})
