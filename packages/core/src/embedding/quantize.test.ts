import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cosineOfQuantized, quantizeVector, vectorFromBytes } from './quantize.js'

const unitVector = fc
  .array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 384, maxLength: 384 })
  .filter((values) => values.some((value) => Math.abs(value) > 0.01))
  .map((values) => {
    const length = Math.hypot(...values)
    return Float32Array.from(values, (value) => value / length)
  })

test('the cosine of quantized vectors is within 0.02 of the true one', () => {
  fc.assert(
    fc.property(unitVector, unitVector, (left, right) => {
      const exact = left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0)
      expect(Math.abs(cosineOfQuantized(quantizeVector(left), quantizeVector(right)) - exact)).toBeLessThan(0.02)
    }),
  )
})

test('a vector has a cosine of 1 with itself and of -1 with its opposite', () => {
  fc.assert(
    fc.property(unitVector, (vector) => {
      const quantized = quantizeVector(vector)
      expect(cosineOfQuantized(quantized, quantized)).toBeCloseTo(1, 12)
      expect(cosineOfQuantized(quantized, quantizeVector(vector.map((value) => -value)))).toBeCloseTo(-1, 2)
    }),
  )
})

test('a zero vector is similar to nothing', () => {
  expect(cosineOfQuantized(new Int8Array(4), Int8Array.of(1, 2, 3, 4))).toBe(0)
})

test('a vector is read back from its bytes, also within a larger buffer', () => {
  const quantized = Int8Array.of(-127, -1, 0, 1, 127)
  const stored = Buffer.concat([Buffer.of(9, 9, 9), Buffer.from(quantized)]).subarray(3)
  expect([...vectorFromBytes(stored)]).toEqual([...quantized])
})
