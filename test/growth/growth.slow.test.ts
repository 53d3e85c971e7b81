import { contentShapes } from '@heddle/test-support/content-shapes/index'
import { expect, test } from 'vitest'
import { type Growth, slopeOf } from './measure.js'
import { textPasses } from './text-passes.js'

/** At this size quadratic time is far above the floor; `npm run growth` runs all shapes. */
const growth: Growth = { bytesMax: 65_536, factor: 4, floorMs: 60 }

/** The hardest shape of each kind. */
const SHAPES = ['chinese', 'commands-a-line', 'dots', 'line-separators']
test('the time of every pass over a text grows no faster than the text', async () => {
  const faults: unknown[] = []
  for (const [pass, run] of Object.entries(textPasses)) {
    for (const name of SHAPES) {
      const slope = await slopeOf(run, contentShapes[name] ?? (() => ''), growth)
      if (slope.isTooSteep) faults.push({ pass, shape: name, tookMs: slope.tookMs })
    }
  }
  expect(faults).toEqual([])
}, 120_000)

test('a quadratic pass is reported', async () => {
  const whole = (text: string) => () => /x+y/.test(text)
  const slope = await slopeOf(whole, (bytes) => 'x'.repeat(bytes), { ...growth, bytesMax: 8_192, floorMs: 5 })
  expect(slope.isTooSteep || slope.isTooSlow).toBe(true)
})

test('a pass that reads its text once is not reported, however long its start takes', async () => {
  const linear = (text: string) => () => [...text].filter((character) => character === 'x').length
  const slope = await slopeOf(linear, contentShapes['chinese'] ?? (() => ''), { ...growth, bytesMax: 1_048_576 })
  expect(slope.isTooSteep || slope.isTooSlow).toBe(false)
})

test('work that starts above a certain size is not reported as steep at its first step', async () => {
  const fromSize = (text: string) => () => {
    for (let times = 0; text.length > 300_000 && times < 40; times++) /x+y$/.exec(text.slice(-2_000))
    return text.length > 300_000 ? [...text].map((character) => character.toUpperCase()).join('') : ''
  }
  const slope = await slopeOf(fromSize, (bytes) => 'x'.repeat(bytes), { bytesMax: 524_288, factor: 4, floorMs: 1 })
  expect(slope.isTooSteep).toBe(false)
})

test('the time of records with their own fields is compared with all that they hold, not with the text alone', async () => {
  const busy = (text: string) => {
    const run = () => {
      // Processor time, of which a busy machine gives less in any span of time.
      for (const before = process.cpuUsage(); process.cpuUsage(before).user < 20_000; );
      return text.length
    }
    return Object.assign(run, { givenBytes: 100 * text.length })
  }
  const given = { bytesMax: 4_096, factor: 4, floorMs: 1 }
  const bare = await slopeOf(
    (text) => () => busy(text)(),
    (bytes) => 'x'.repeat(bytes),
    given,
  )
  const whole = await slopeOf(busy, (bytes) => 'x'.repeat(bytes), given)
  expect([bare.isTooSlow, whole.isTooSlow]).toEqual([true, false])
})
