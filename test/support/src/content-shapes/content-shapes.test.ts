import { expect, it } from 'vitest'
import { contentShapes } from './index.js'

const SIZES = [0, 7, 1_000, 20_000]
const LEAST_SHARE = 0.9
/** The longest piece that is not cut, and two characters of four bytes. */
const SLACK_BYTES = 200

it('every content shape grows to the requested size, with the same text each time', () => {
  for (const [name, shape] of Object.entries(contentShapes)) {
    for (const bytes of SIZES) {
      const text = shape(bytes)
      const size = Buffer.byteLength(text)
      expect(size, name).toBeLessThanOrEqual(Math.max(bytes, SLACK_BYTES))
      expect(size, name).toBeGreaterThanOrEqual(bytes * LEAST_SHARE - SLACK_BYTES)
      expect(shape(bytes) === text, name).toBe(true)
    }
  }
})

it('no two content shapes have the same contents', () => {
  const texts = Object.values(contentShapes).map((shape) => shape(2_000))
  expect(new Set(texts).size).toBe(texts.length)
})
