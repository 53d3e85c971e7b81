import { mergeSettings } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { limitingCalibration, limitTokens, windowByMargin } from '../compaction/lane.js'
import { reportedIn } from '../compaction/usage.js'
import { laneOf } from '../strategies/lane-of.js'
import { predictCount } from './fit.js'
import { type Calibration, nextCalibration, withLearnt } from './in-force.js'

const MODEL = 'acme-2'
const settings = (calibration: Partial<Calibration> & { enabled?: boolean }, more: object = {}) =>
  mergeSettings({ model: MODEL, unknownModelWindow: 100_000, maxOutputTokens: 4_000, calibration, ...more })

describe('a calibration in force', () => {
  test('lowers the limit to what the provider has space for, and names itself as the reason', () => {
    const own = settings({ ratio: 1.5, offset: 6_000, margin: 0 })
    expect(limitTokens(own)).toBe((96_000 - 6_000) / 1.5)
    expect(limitingCalibration(own)).toEqual({ ratio: 1.5, offset: 6_000, margin: 0 })
    expect(laneOf(own).calibration).toEqual({ ratio: 1.5, offset: 6_000, margin: 0 })
  })

  test('never raises a limit, and never lets a context pass the window', () => {
    const calibrations = fc.record({
      ratio: fc.double({ min: 1, max: 4, noNaN: true }),
      offset: fc.integer({ min: 0, max: 20_000 }),
      margin: fc.double({ min: 0, max: 0.25, noNaN: true }),
    })
    fc.assert(
      fc.property(calibrations, fc.option(fc.integer({ min: 1, max: 200_000 }), { nil: null }), (one, budget) => {
        const own = settings(one, { budget })
        const without = settings({ enabled: false }, { budget })
        expect(limitTokens(own)).toBeLessThanOrEqual(limitTokens(without))
        // A quarter of the window is left however much a provider is said to count.
        if (limitTokens(own) <= windowByMargin(own) * 0.25) return
        const counted = predictCount(one, limitTokens(own)) * (1 + one.margin)
        expect(counted).toBeLessThanOrEqual(96_000 + 2)
      }),
    )
  })

  test('leaves the lane of a smaller budget alone, so that nothing is compacted anew', () => {
    const without = laneOf(settings({ enabled: false }, { budget: 16_000 }))
    const own = laneOf(settings({ ratio: 1.5, offset: 6_000, margin: 0.05 }, { budget: 16_000 }))
    expect([own.key, own.limitTokens, own.calibration]).toEqual([without.key, 16_000, undefined])
    expect(laneOf(settings({ ratio: 1.5 })).key).not.toBe(laneOf(settings({})).key)
  })

  test('reads a report of the provider as tokens of our counter', () => {
    const lane = laneOf(settings({ ratio: 1.5, offset: 6_000, margin: 0 }))
    const reply = sampleMessage({
      seq: 1,
      role: 'assistant',
      contextId: '0190a000-0000-7000-8000-000000000001',
      usage: { input_tokens: 36_000 },
    })
    expect(reportedIn(reply, 20_000, lane)).toBe(20_000)
  })

  test('keeps a quarter of the limit, whatever was reported', () => {
    expect(limitTokens(settings({ ratio: 4, offset: 2_000_000, margin: 1 }))).toBe(24_000)
  })
})

describe('what was learnt', () => {
  const learnt = [{ model: `${MODEL}-20260101`, ratio: 1.3, offset: 500, margin: 0.05 }]

  test('applies to the model by its name, dated or not, and without the name of a model', () => {
    const own = { enabled: true, ratio: 1.3, offset: 500, margin: 0.05 }
    expect(withLearnt(settings({}), learnt).calibration).toEqual(own)
    expect(withLearnt(settings({}, { model: `maker/${MODEL}-20260101` }), learnt).calibration).toEqual(own)
    expect(withLearnt(settings({}, { model: null }), learnt).calibration).toEqual(own)
    for (const other of ['acme', 'acme-2-mini', 'acme-20']) {
      expect(withLearnt(settings({}, { model: other }), learnt).calibration.ratio).toBeNull()
    }
  })

  test('changes nothing where it is switched off, or the ratio is set', () => {
    expect(withLearnt(settings({ enabled: false }), learnt)).toEqual(settings({ enabled: false }))
    expect(withLearnt(settings({ ratio: 1.1 }), learnt)).toEqual(settings({ ratio: 1.1 }))
  })

  test('comes into force in steps, and stays while it expects enough and not far too much', () => {
    const fit = { ratio: 1.321, offset: 1_234, margin: 0.052, samples: 40 }
    const first = nextCalibration(null, fit)
    expect(first).toEqual({ ratio: 1.35, offset: 1_500, margin: 0.06 })
    expect(nextCalibration(first, { ...fit, ratio: 1.34 })).toBe(first)
    expect(nextCalibration(first, { ...fit, ratio: 1.25 })).toBe(first)
    expect(nextCalibration(first, { ...fit, ratio: 1.45 })).toEqual({ ratio: 1.45, offset: 1_500, margin: 0.06 })
    expect(nextCalibration(first, { ...fit, ratio: 1 }).ratio).toBe(1)
  })
})
