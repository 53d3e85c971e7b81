import { expect, test } from 'vitest'
import { type Passed, shorterOf } from './one-content.js'

const passed = (settledMs: number, healthMs: number, loopMs: number): Passed => ({
  size: 8,
  settledMs,
  importedMs: settledMs,
  waits: { append: { healthMs, loopMs }, settle: { healthMs: loopMs, loopMs: healthMs } },
})

test('the time of a step is the shorter one of two passes', () => {
  expect(shorterOf(passed(900, 400, 10), passed(700, 100, 30))).toEqual({
    size: 8,
    settledMs: 700,
    importedMs: 700,
    waits: { append: { healthMs: 100, loopMs: 10 }, settle: { healthMs: 10, loopMs: 100 } },
  })
})

test('a step that the second pass did not reach keeps its first time', () => {
  const { waits } = shorterOf(passed(900, 400, 10), { ...passed(700, 100, 30), waits: {} })
  expect(waits['append']).toEqual({ healthMs: 400, loopMs: 10 })
})
