import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { bounds } from '../base/bounds.js'
import { Pools } from './worker-stats.js'

/** Processes that hear each other, as over a channel. */
function processesOf(count: number): { clock: ManualClock; pools: Pools[] } {
  const clock = new ManualClock()
  const pools: Pools[] = []
  const tell = async (text: string) => {
    for (const each of pools) each.receive(text)
  }
  for (let index = 0; index < count; index++) pools.push(new Pools({ name: `process-${index}`, clock, tell }))
  return { clock, pools }
}

const done = { stage: 'ingest', result: 'done', durationMs: 20 } as const

test('workers of all processes are counted, and those that stop are counted no more at once', async () => {
  const { clock, pools } = processesOf(5)
  const [here, ...others] = pools as [Pools, ...Pools[]]
  for (const each of others) each.started('ingest')
  await clock.advance(1)
  expect([here.workersOf('ingest'), here.workersOf('assemble')]).toEqual([4, 0])
  for (const each of others.slice(1)) each.stopped('ingest')
  expect(here.workersOf('ingest')).toBe(1)
})

test('what was done is summed over all processes, with the pace of the last seconds', async () => {
  const { clock, pools } = processesOf(3)
  const [here, one, other] = pools as [Pools, Pools, Pools]
  for (const each of [one, other]) each.started('ingest')
  for (let second = 0; second < 20; second++) {
    await clock.advance(bounds.poolToldEveryMs)
    for (let job = 0; job < 5; job++) for (const each of [one, other]) each.settled(done)
  }
  one.settled({ ...done, result: 'retried' })
  await clock.advance(bounds.poolToldEveryMs)
  expect(here.workOf('ingest')).toMatchObject({ workers: 2, done: 200, failed: 1, tookMs: 201 * 20 })
  expect(here.workOf('ingest').perSecond).toBeCloseTo(10, 0)
  expect(here.workOf('ingest')).toEqual(one.workOf('ingest'))
})

test('a process that is silent has no workers any more, and what it had done stays counted', async () => {
  const { clock, pools } = processesOf(2)
  const [here, dead] = pools as [Pools, Pools]
  dead.started('embed')
  dead.settled({ ...done, stage: 'embed' })
  await clock.advance(bounds.poolToldEveryMs)
  dead.close()
  await clock.advance(bounds.loadKnownMs + 1)
  expect(here.workOf('embed')).toMatchObject({ workers: 0, done: 1, perSecond: 0 })
})

test('who has just come asks, and is answered at once', async () => {
  const { clock, pools } = processesOf(2)
  const [worker, late] = pools as [Pools, Pools]
  worker.started('prune')
  await clock.advance(1)
  const later = new Pools({
    name: 'later',
    clock,
    tell: async (text) => {
      worker.receive(text)
    },
  })
  expect(later.workersOf('prune')).toBe(0)
  pools.push(later)
  await later.ask()
  expect([later.workersOf('prune'), late.workersOf('prune')]).toEqual([1, 1])
})

test('calls of models are counted by each process for itself, for a bounded number of models', () => {
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

test('a word that is none changes nothing', () => {
  const [here] = processesOf(1).pools as [Pools]
  for (const text of ['', '{}', '[]', 'null', '{"from":"x","stages":{"ingest":{"workers":-1}}}']) here.receive(text)
  expect(here.workersOf('ingest')).toBe(0)
})
