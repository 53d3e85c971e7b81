import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boundPlace, CLOCK_LEAD_MS_MAX, comparePositions, proposePlaces } from './order.js'

test('an append proposes times that never decrease', () => {
  expect(proposePlaces([null, 50, 40, null, 90], 10)).toEqual([10, 50, 50, 50, 90])
})

test('with any clocks, an append keeps its order, and no proposed time is far after its receipt', () => {
  const skewed = fc.oneof(fc.integer({ min: -10_000, max: 10_000 }), fc.integer({ min: -1e13, max: 1e13 }))
  const receivedAtMs = Date.parse('2026-02-12T14:30:00Z')
  fc.assert(
    fc.property(fc.array(fc.option(skewed), { minLength: 1 }), skewed, (skews, startSkew) => {
      const sentAtMs = skews.map((skew) => (skew === null ? null : receivedAtMs + skew))
      const positions = proposePlaces(sentAtMs, receivedAtMs + startSkew).map((place, ordinal) => {
        return { orderedAtMs: boundPlace(place, receivedAtMs), ordinal, id: '' }
      })
      expect([...positions].sort(comparePositions)).toEqual(positions)
      for (const { orderedAtMs } of positions) expect(orderedAtMs).toBeLessThanOrEqual(receivedAtMs + CLOCK_LEAD_MS_MAX)
    }),
  )
})
