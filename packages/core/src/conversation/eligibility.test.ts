import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { ineligibleReason, isInWindow, windowBounds } from './eligibility.js'

const HOUR_MS = 3_600_000

describe('a window', () => {
  const time = fc.integer({ min: -1_000, max: 1_000 })
  const seconds = fc.option(fc.integer({ min: 0, max: 2 }))

  test('holds messages past the head at the last clear and after both its time bounds', () => {
    fc.assert(
      fc.property(
        seconds,
        fc.option(time),
        fc.nat({ max: 9 }),
        time,
        fc.nat({ max: 9 }),
        (rollingWindow, lastClearedAtMs, clearedSeq, orderedAtMs, seq) => {
          const nowMs = 0
          const bounds = windowBounds({ rollingWindow, lastClearedAtMs, clearedSeq, nowMs })
          const isPast = seq > clearedSeq
          const isYoung = rollingWindow === null || orderedAtMs > nowMs - rollingWindow * 1_000
          const isAfter = lastClearedAtMs === null || orderedAtMs > lastClearedAtMs
          expect(isInWindow(sampleMessage({ seq, orderedAtMs }), bounds)).toBe(isPast && isYoung && isAfter)
        },
      ),
      { numRuns: 1_000 },
    )
  })

  test('of a day without a clear begins a day ago; one without bounds has no beginning', () => {
    const window = { rollingWindow: 86_400, lastClearedAtMs: null, clearedSeq: 0, nowMs: 30 * HOUR_MS }
    expect(windowBounds(window)).toEqual({ sinceMs: 6 * HOUR_MS, clearedSeq: 0 })
    expect(windowBounds({ ...window, lastClearedAtMs: 7 * HOUR_MS }).sinceMs).toBe(7 * HOUR_MS)
    expect(windowBounds({ ...window, rollingWindow: null }).sinceMs).toBeNull()
  })
})

test('errors, approvals and messages kept aside never enter a context, each with its reason', () => {
  const reason = (fields: object) => ineligibleReason({ role: 'user', keptAside: null, ...fields })
  expect([{}, { role: 'error' }, { role: 'approval' }, { keptAside: 'compact-summary' }].map(reason)).toEqual([
    null,
    'error',
    'approval',
    'compact-summary',
  ])
})
