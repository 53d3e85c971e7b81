import { expect, test } from 'vitest'
import { type Passed, shorterOf } from './one-content.js'

const passed = (settledMs: number, healthMs: number, loopMs: number): Passed => ({
  size: 8,
  settledMs,
  importedMs: settledMs,
  waits: {
    append: { healthMs, emptyMs: healthMs / 10, loopMs, tookMs: settledMs },
    settle: { healthMs: loopMs, emptyMs: 1, loopMs: healthMs, tookMs: 5 },
  },
})

test('the time of a step is the shorter one of two passes', () => {
  expect(shorterOf(passed(900, 400, 10), passed(700, 100, 30))).toEqual({
    size: 8,
    settledMs: 700,
    importedMs: 700,
    waits: {
      append: { healthMs: 100, emptyMs: 10, loopMs: 10, tookMs: 700 },
      settle: { healthMs: 10, emptyMs: 1, loopMs: 100, tookMs: 5 },
    },
  })
})

test('a step that the second pass did not reach keeps its first time', () => {
  const { waits } = shorterOf(passed(900, 400, 10), { ...passed(700, 100, 30), waits: {} })
  expect(waits['append']).toEqual({ healthMs: 400, emptyMs: 40, loopMs: 10, tookMs: 900 })
})
