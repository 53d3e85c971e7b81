import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { bounds } from '../base/bounds.js'
import { Pools } from './worker-stats.js'

/** Processes that receive each other's reports. */
function processesOf(count: number): { clock: ManualClock; pools: Pools[] } {
  const clock = new ManualClock()
  const pools: Pools[] = []
  const publish = async (text: string) => {
    for (const each of pools) each.receive(text)
  }
  for (let index = 0; index < count; index++) pools.push(new Pools({ name: `process-${index}`, clock, publish }))
  return { clock, pools }
}

const done = { stage: 'ingest', result: 'done', durationMs: 20 } as const

test('workers of all processes are counted, and are subtracted at once when they stop', async () => {
  const { clock, pools } = processesOf(5)
  const [here, ...others] = pools as [Pools, ...Pools[]]
  for (const each of others) each.started('ingest')
  await clock.advance(1)
  expect([here.workersOf('ingest'), here.workersOf('assemble')]).toEqual([4, 0])
  for (const each of others.slice(1)) each.stopped('ingest')
  expect(here.workersOf('ingest')).toBe(1)
})

test('finished jobs are summed over all processes, with the rate of the last seconds', async () => {
  const { clock, pools } = processesOf(3)
  const [here, one, other] = pools as [Pools, Pools, Pools]
  for (const each of [one, other]) each.started('ingest')
  for (let second = 0; second < 20; second++) {
    await clock.advance(bounds.poolReportEveryMs)
    for (let job = 0; job < 5; job++) for (const each of [one, other]) each.settled(done)
  }
  one.settled({ ...done, result: 'retried' })
  await clock.advance(bounds.poolReportEveryMs)
  expect(here.workOf('ingest')).toMatchObject({ workers: 2, done: 200, failed: 1, tookMs: 201 * 20 })
  expect(here.workOf('ingest').perSecond).toBeCloseTo(10, 0)
  expect(here.workOf('ingest')).toEqual(one.workOf('ingest'))
})

test('the workers of a process that stopped reporting are not counted, but its finished jobs are', async () => {
  const { clock, pools } = processesOf(2)
  const [here, dead] = pools as [Pools, Pools]
  dead.started('embed')
  dead.settled({ ...done, stage: 'embed' })
  await clock.advance(bounds.poolReportEveryMs)
  dead.close()
  await clock.advance(bounds.loadKnownMs + 1)
  expect(here.workOf('embed')).toMatchObject({ workers: 0, done: 1, perSecond: 0 })
})

test('a new process requests reports, and receives them at once', async () => {
  const { clock, pools } = processesOf(2)
  const [worker, late] = pools as [Pools, Pools]
  worker.started('prune')
  await clock.advance(1)
  const later = new Pools({
    name: 'later',
    clock,
    publish: async (text) => {
      worker.receive(text)
    },
  })
  expect(later.workersOf('prune')).toBe(0)
  pools.push(later)
  await later.requestReports()
  expect([later.workersOf('prune'), late.workersOf('prune')]).toEqual([1, 1])
})

test('each process counts its own calls of models, for a limited number of models', () => {
  const [here, other] = processesOf(2).pools as [Pools, Pools]
  const call = {
    purpose: 'compaction',
    provider: 'openai',
    model: 'small',
    outcome: 'ok',
    errorCode: null,
    inputTokens: 100,
    outputTokens: 10,
    costUsd: null,
    durationMs: 5,
  } as const
  here.called(call)
  here.called({ ...call, outcome: 'failed', inputTokens: null, outputTokens: null })
  expect([...here.ownCalls]).toEqual([['openai small', { calls: 2, failed: 1, inputTokens: 100, outputTokens: 10 }]])
  expect([...other.ownCalls]).toEqual([])
  for (let model = 0; model <= bounds.poolModelsMax; model++) here.called({ ...call, model: `m${model}` })
  expect(here.ownCalls.size).toBe(bounds.poolModelsMax)
})

test('a malformed report changes nothing', () => {
  const [here] = processesOf(1).pools as [Pools]
  for (const text of ['', '{}', '[]', 'null', '{"from":"x","stages":{"ingest":{"workers":-1}}}']) here.receive(text)
  expect(here.workersOf('ingest')).toBe(0)
})
