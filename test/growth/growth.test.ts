import { contentShapes } from '@heddle/test-support/content-shapes/index'
import { expect, test } from 'vitest'
import { type Growth, slopeOf } from './measure.js'
import { textPasses } from './text-passes.js'

/** What a text of this size takes where it takes quadratic time is far above the floor; `npm run growth` tries all shapes. */
const growth: Growth = { bytesMax: 65_536, factor: 4, floorMs: 60 }

/** Of each kind of shape the one that has been hardest. */
const SHAPES = ['chinese', 'commands-a-line', 'dots', 'line-separators']
test('every pass over one text takes time that grows no faster than its text', async () => {
  const faults: unknown[] = []
  for (const [pass, run] of Object.entries(textPasses)) {
    for (const name of SHAPES) {
      const slope = await slopeOf(run, contentShapes[name] ?? (() => ''), growth)
      if (slope.isTooSteep) faults.push({ pass, shape: name, tookMs: slope.tookMs })
    }
  }
  expect(faults).toEqual([])
}, 120_000)

test('a pass that looks at each character from each is noticed', async () => {
  const whole = (text: string) => () => /x+y/.test(text)
  const slope = await slopeOf(whole, (bytes) => 'x'.repeat(bytes), { ...growth, bytesMax: 16_384, floorMs: 20 })
  expect(slope.isTooSteep || slope.isTooSlow).toBe(true)
})

test('a pass that reads its text once is not noticed, however long it takes to begin', async () => {
  const linear = (text: string) => () => [...text].filter((character) => character === 'x').length
  const slope = await slopeOf(linear, contentShapes['chinese'] ?? (() => ''), { ...growth, bytesMax: 1_048_576 })
  expect(slope.isTooSteep || slope.isTooSlow).toBe(false)
})
