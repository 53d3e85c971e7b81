import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { bounds } from '../base/bounds.js'
import { FairShare } from './fair-share.js'

const { jobs: SHARE } = bounds.shareOfWorker.assemble
const refused = expect.objectContaining({ code: 'RATE_LIMITED', retryAfter: bounds.busyRetryAfterSeconds })

/** Processes that receive each other's reports. */
function processesOf(count: number) {
  const clock = new ManualClock()
  const workers = { count: 0 }
  const loads: FairShare[] = []
  for (let index = 0; index < count; index++) {
    const publish = async (text: string) => {
      for (const load of loads) load.receive(text)
    }
    loads.push(new FairShare({ name: `process-${index}`, clock, publish, workersOf: () => workers.count }))
  }
  return { clock, workers, loads: loads as [FairShare, FairShare] }
}

const share = (projectId: string) => ({ stage: 'assemble' as const, projectId, bytes: 0 })

/** Acquires places. @returns a function that releases the last one */
function acquire(load: FairShare, projectId: string, count: number): () => void {
  let release = () => {}
  for (let caller = 0; caller < count; caller++) release = load.acquire(share(projectId))
  return release
}

test('a project may have any number of open jobs while no other project has some', () => {
  const { loads } = processesOf(1)
  acquire(loads[0], 'noisy', SHARE * 10)
})

test('with two active projects each is limited to its share, and a released place can be acquired again', () => {
  const [load] = processesOf(1).loads
  acquire(load, 'quiet', 1)
  const release = acquire(load, 'noisy', SHARE)
  expect(() => load.acquire(share('noisy'))).toThrow(refused)
  acquire(load, 'quiet', SHARE - 1)
  release()
  release()
  load.acquire(share('noisy'))
  expect(() => load.acquire(share('noisy'))).toThrow(refused)
})

test('jobs without a waiting caller count until their reply arrives, or until they expire if it was lost', async () => {
  const { loads, clock } = processesOf(1)
  const [load] = loads
  for (let job = 0; job < SHARE; job++) load.started({ id: `job-${job}`, ...share('noisy') })
  load.started({ id: 'job-0', ...share('noisy') })
  acquire(load, 'quiet', 1)
  expect(() => load.acquire(share('noisy'))).toThrow(refused)
  load.ended('job-0')
  load.ended('job-0')
  acquire(load, 'noisy', 1)()
  await clock.advance(bounds.underWayMsMax + 2 * bounds.loadReportEveryMs)
  acquire(load, 'noisy', SHARE)
})

test('open jobs of other processes count until their last report expires', async () => {
  const { loads, clock } = processesOf(2)
  const [one, other] = loads
  acquire(one, 'noisy', SHARE)
  acquire(one, 'quiet', 1)
  await clock.advance(bounds.loadReportEveryMs)
  expect(() => other.acquire(share('noisy'))).toThrow(refused)
  one.close()
  await clock.advance(bounds.loadKnownMs + 1)
  acquire(other, 'quiet', 1)
  acquire(other, 'noisy', SHARE)
})

test('each reported worker adds to the share', () => {
  const { loads, workers } = processesOf(1)
  const [one] = loads
  workers.count = 3
  acquire(one, 'quiet', 1)
  acquire(one, 'noisy', SHARE * 3)
  expect(() => one.acquire(share('noisy'))).toThrow(refused)
})

test('a malformed report changes nothing', () => {
  const [load] = processesOf(1).loads
  acquire(load, 'quiet', 1)
  acquire(load, 'noisy', SHARE)
  for (const text of ['', '{}', '{"from":"x","counts":[{"jobs":"many"}]}', '[]', 'null']) load.receive(text)
  expect(() => load.acquire(share('noisy'))).toThrow(refused)
})

test('an append of many bytes uses as much of the share as many small ones', () => {
  const [load] = processesOf(1).loads
  const append = (projectId: string, bytes: number) => ({ stage: 'ingest' as const, projectId, bytes })
  acquire(load, 'quiet', 1)
  for (let small = 0; small < bounds.shareOfWorker.ingest.jobs; small++) load.acquire(append('usual', 8_000))
  load.acquire(append('importing', 200_000))
  expect(() => load.acquire(append('importing', 200_000))).toThrow(refused)
})

test('admitted requests count before their jobs are sent, and are not counted twice afterwards', () => {
  const [load] = processesOf(1).loads
  acquire(load, 'quiet', 1)
  const check = (jobs: number) => () => load.check({ ...share('noisy'), admitted: { jobs, bytes: 0 } })
  expect(check(SHARE)).toThrow(refused)
  acquire(load, 'noisy', SHARE - 1)
  expect(check(SHARE - 1)).not.toThrow()
})
