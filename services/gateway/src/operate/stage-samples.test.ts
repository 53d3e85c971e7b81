import type { StageStats } from '@heddle/queue'
import { createLogger } from '@heddle/runtime'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { StageSamples } from './stage-samples.js'

const pool = { workers: 1, done: 4, failed: 0, tookMs: 20, perSecond: 2 }
const stats = (waiting: number): StageStats[] => [
  {
    stage: 'embed',
    waiting,
    active: 1,
    delayed: 0,
    failed: 0,
    prioritized: 0,
    due: 0,
    paused: false,
    oldestWaitMs: null,
    pool,
  },
]

test('a sample is taken each minute, soon again after a failure, and six hours are kept', async () => {
  const clock = new ManualClock()
  let reads = 0
  const samples = new StageSamples({
    clock,
    log: createLogger({ level: 'silent', name: 'test' }),
    async readStats() {
      if (reads++ === 0) throw new Error('away')
      return stats(reads)
    },
  })
  await clock.advance(0)
  expect(samples.all).toEqual([])
  await clock.advance(2_000)
  for (let minute = 0; minute < 400; minute++) await clock.advance(60_000)
  const waiting = samples.all.map(({ stages }) => stages[0]?.waiting)
  expect([waiting.length, waiting.at(-1)]).toEqual([360, 402])
  expect(samples.all.at(-1)?.stages[0]).toEqual({
    stage: 'embed',
    waiting: 402,
    active: 1,
    delayed: 0,
    oldestWaitMs: null,
    perSecond: 2,
  })
  samples.close()
  await clock.advance(600_000)
  expect(samples.all.at(-1)?.stages[0]?.waiting).toBe(402)
})
