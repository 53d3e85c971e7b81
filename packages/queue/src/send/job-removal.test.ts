import { describe, expect, it } from 'vitest'
import { type JobRemovalScan, JobRemovals, type Remover, scanJobs } from './job-removal.js'

const remover = (thread: string, dryRun = false): Remover => ({
  dryRun,
  found: 0,
  isMeant: ({ payload }) => (payload as { thread: string }).thread === thread,
})

/**
 * Waiting jobs by id, and counts of the calls to the server.
 *
 * @param taken ids of jobs that a worker fetches before they can be removed
 */
function fakeQueue(threads: readonly string[], taken: readonly string[] = []) {
  const jobs = new Map(threads.map((thread, index) => [`job-${index}`, thread]))
  const calls = { counts: 0, ranges: 0, jobs: 0 }
  const queue = {
    getJobCounts: async () => {
      calls.counts++
      return { wait: jobs.size }
    },
    getRanges: async ([type]: string[], start: number, end: number) => {
      calls.ranges++
      return type === 'wait' ? [...jobs.keys()].slice(start, end + 1) : []
    },
    getJob: async (id: string) => {
      calls.jobs++
      return jobs.has(id) ? { data: JSON.stringify({ thread: jobs.get(id) }) } : undefined
    },
    remove: async (id: string) => (jobs.delete(id) && !taken.includes(id) ? 1 : 0),
  }
  const scan = {
    queue: queue as unknown as JobRemovalScan['queue'],
    stage: 'ingest',
    bounded: (work) => work,
  } as const satisfies Omit<JobRemovalScan, 'removers'>
  return { jobs, calls, scan: (removers: readonly Remover[]) => scanJobs({ ...scan, removers }) }
}

describe('a scan of the waiting jobs', () => {
  it('reads only the counts if no job waits', async () => {
    const { calls, scan } = fakeQueue([])
    await scan([remover('gone')])
    expect(calls).toEqual({ counts: 1, ranges: 0, jobs: 0 })
  })

  it('reads each job once for all removers, counts the jobs of each, and removes none for a dry run', async () => {
    const { jobs, calls, scan } = fakeQueue(['one', 'other', 'counted', 'one', 'stays'])
    const removers = [remover('one'), remover('other'), remover('counted', true), remover('none')]
    await scan(removers)
    expect(removers.map(({ found }) => found)).toEqual([2, 1, 1, 0])
    expect([...jobs.values()]).toEqual(['counted', 'stays'])
    // Once each, and the remaining ones once more, in case others were added meanwhile.
    expect(calls.jobs).toBe(7)
  })

  it('does not count jobs that a worker has fetched meanwhile', async () => {
    const { scan } = fakeQueue(['one', 'one', 'one'], ['job-1'])
    const removing = remover('one')
    await scan([removing])
    expect(removing.found).toBe(2)
  })
})

const tick = () => new Promise((resolve) => setImmediate(resolve))

describe('removals of jobs', () => {
  it('that are requested during a scan share the next one, because the current one may miss jobs', async () => {
    const scans: (readonly Remover[])[] = []
    let finish = () => {}
    const removals = new JobRemovals(async (removers) => {
      scans.push(removers)
      await new Promise<void>((resolve) => {
        finish = resolve
      })
      for (const each of removers) each.found += scans.length
    })
    const first = removals.remove(() => true, false)
    await tick()
    const later = [1, 2, 3].map(() => removals.remove(() => true, true))
    expect(scans.map(({ length }) => length)).toEqual([1])
    finish()
    expect(await first).toBe(1)
    await tick()
    await tick()
    expect(scans.map(({ length }) => length)).toEqual([1, 3])
    finish()
    expect(await Promise.all(later)).toEqual([2, 2, 2])
  })

  it('fail with a failed scan, and later ones run', async () => {
    let isAway = true
    const removals = new JobRemovals(async () => {
      if (isAway) throw new Error('away')
    })
    await expect(removals.remove(() => true, false)).rejects.toThrow('away')
    isAway = false
    expect(await removals.remove(() => true, false)).toBe(0)
  })
})
