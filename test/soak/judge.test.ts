import { expect, test } from 'vitest'
import { isSteady, judge } from './judge.js'
import type { Sample } from './sample.js'

const MEGABYTE = 1_048_576

interface Minute {
  readonly megabytes?: number
  readonly loopP99Ms?: number
  readonly connections?: number
  readonly appendP50Ms?: number
  readonly skipped?: number
}

function sampleOf(minute: number, given: Minute): Sample {
  const { megabytes = 300, loopP99Ms = 20, connections = 11, appendP50Ms = 20, skipped = 0 } = given
  const append = { operation: 'append', count: 600, failed: 0, p50Ms: appendP50Ms, p95Ms: 80, p99Ms: 120 }
  const up = { name: 'up', residentBytes: megabytes * MEGABYTE, heapUsedBytes: 0, externalBytes: 0, cpuSeconds: minute }
  const delays = { loopDelayP50Ms: 1, loopDelayP99Ms: loopP99Ms, loopDelayMaxMs: 200 }
  const messages = minute * 2_000
  return {
    minute,
    threads: minute * 50,
    skipped,
    processes: [{ ...up, ...delays }],
    database: { bytes: messages * 3_000, connections, messages, contexts: minute * 300, tables: [] },
    operations: [append],
  }
}

function failuresOf(minutes: (minute: number) => Minute): string[] {
  const samples = Array.from({ length: 30 }, (_, index) => sampleOf(index + 1, minutes(index + 1)))
  return judge(samples).flatMap(({ what, pass }) => (pass ? [] : [what]))
}

test('a run that is constant after five minutes is steady, whatever happened before', () => {
  expect(failuresOf((minute) => (minute <= 5 ? { megabytes: 900, loopP99Ms: 500, skipped: 3 } : {}))).toEqual([])
})

test.each<[string, (minute: number) => Minute]>([
  ['up: resident memory, growth', (minute) => ({ megabytes: 100 + minute * 5 })],
  ['up: resident memory', (minute) => (minute === 20 ? { megabytes: 401 } : {})],
  ['up: loop delay p99', (minute) => (minute === 20 ? { loopP99Ms: 51 } : {})],
  ['connections', (minute) => ({ connections: minute })],
  ['append p50', (minute) => ({ appendP50Ms: 20 + minute * 2 })],
  ['operations not begun', (minute) => (minute === 20 ? { skipped: 1 } : {})],
])('%s that goes beyond its bound is named', (what, minutes) => {
  expect(failuresOf(minutes)).toEqual([what])
})

test('a run that is too short to be judged is not steady', () => {
  expect(isSteady(judge([sampleOf(1, {}), sampleOf(7, {})]))).toBe(false)
})
