import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { bounds } from '../base/bounds.js'
import { FairShare } from './fair-share.js'

const { jobs: SHARE } = bounds.shareOfWorker.assemble
const refused = expect.objectContaining({ code: 'RATE_LIMITED', retryAfter: bounds.busyRetryAfterSeconds })

/** Processes that hear each other, as over a channel. */
function processesOf(count: number) {
  const clock = new ManualClock()
  const workers = { count: 0 }
  const loads: FairShare[] = []
  for (let index = 0; index < count; index++) {
    const tell = async (text: string) => {
      for (const load of loads) load.receive(text)
    }
    loads.push(new FairShare({ name: `process-${index}`, clock, tell, workersOf: () => workers.count }))
  }
  return { clock, workers, loads: loads as [FairShare, FairShare] }
}

const share = (projectId: string) => ({ stage: 'assemble' as const, projectId, bytes: 0 })

/** Callers that wait. @returns gives the place of the last one back */
function take(load: FairShare, projectId: string, count: number): () => void {
  let release = () => {}
  for (let caller = 0; caller < count; caller++) release = load.take(share(projectId))
  return release
}

test('a project without neighbours may have any number of jobs under way', () => {
  const { loads } = processesOf(1)
  take(loads[0], 'noisy', SHARE * 10)
})

test('beside a neighbour each has its share, and gets a place back with each caller that is done', () => {
  const [load] = processesOf(1).loads
  take(load, 'quiet', 1)
  const release = take(load, 'noisy', SHARE)
  expect(() => load.take(share('noisy'))).toThrow(refused)
  take(load, 'quiet', SHARE - 1)
  release()
  release()
  load.take(share('noisy'))
  expect(() => load.take(share('noisy'))).toThrow(refused)
})

test('jobs for which nobody waits count until their reply comes, or for a while where it was lost', async () => {
  const { loads, clock } = processesOf(1)
  const [load] = loads
  for (let job = 0; job < SHARE; job++) load.began({ id: `job-${job}`, ...share('noisy') })
  load.began({ id: 'job-0', ...share('noisy') })
  take(load, 'quiet', 1)
  expect(() => load.take(share('noisy'))).toThrow(refused)
  load.ended('job-0')
  load.ended('job-0')
  take(load, 'noisy', 1)()
  await clock.advance(bounds.underWayMsMax + 2 * bounds.loadToldEveryMs)
  take(load, 'noisy', SHARE)
})

test('what other processes have under way counts, until they are silent for a while', async () => {
  const { loads, clock } = processesOf(2)
  const [one, other] = loads
  take(one, 'noisy', SHARE)
  take(one, 'quiet', 1)
  await clock.advance(bounds.loadToldEveryMs)
  expect(() => other.take(share('noisy'))).toThrow(refused)
  one.close()
  await clock.advance(bounds.loadKnownMs + 1)
  take(other, 'quiet', 1)
  take(other, 'noisy', SHARE)
})

test('each worker that is heard of adds to the share', () => {
  const { loads, workers } = processesOf(1)
  const [one] = loads
  workers.count = 3
  take(one, 'quiet', 1)
  take(one, 'noisy', SHARE * 3)
  expect(() => one.take(share('noisy'))).toThrow(refused)
})

test('a word that is none changes nothing', () => {
  const [load] = processesOf(1).loads
  take(load, 'quiet', 1)
  take(load, 'noisy', SHARE)
  for (const text of ['', '{}', '{"from":"x","counts":[{"jobs":"many"}]}', '[]', 'null']) load.receive(text)
  expect(() => load.take(share('noisy'))).toThrow(refused)
})

test('an append of many messages takes the share of many small ones', () => {
  const [load] = processesOf(1).loads
  const append = (projectId: string, bytes: number) => ({ stage: 'ingest' as const, projectId, bytes })
  take(load, 'quiet', 1)
  for (let small = 0; small < bounds.shareOfWorker.ingest.jobs; small++) load.take(append('usual', 8_000))
  load.take(append('importing', 200_000))
  expect(() => load.take(append('importing', 200_000))).toThrow(refused)
})

test('what was let in counts before its jobs are sent, and once when they are', () => {
  const [load] = processesOf(1).loads
  take(load, 'quiet', 1)
  const ask = (jobs: number) => () => load.check({ ...share('noisy'), letIn: { jobs, bytes: 0 } })
  expect(ask(SHARE)).toThrow(refused)
  take(load, 'noisy', SHARE - 1)
  expect(ask(SHARE - 1)).not.toThrow()
})
