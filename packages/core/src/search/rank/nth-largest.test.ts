import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nthLargest } from './nth-largest.js'

test('the n-th largest is the one at that index after sorting', () => {
  const numbers = fc.array(fc.oneof(fc.double({ noNaN: true }), fc.integer({ min: 0, max: 3 })), { minLength: 1 })
  fc.assert(
    fc.property(numbers, fc.nat(), (values, at) => {
      const n = 1 + (at % values.length)
      const sorted = Float64Array.from(values).sort()
      expect(nthLargest(Float64Array.from(values), n)).toBe(sorted[values.length - n])
    }),
  )
})
