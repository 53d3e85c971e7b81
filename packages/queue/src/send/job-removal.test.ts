import { describe, expect, it } from 'vitest'
import { type JobRemovalScan, JobRemovals, type Remover, scanJobs } from './job-removal.js'

const remover = (thread: string, dryRun = false): Remover => ({
  dryRun,
  found: 0,
  isMeant: ({ payload }) => (payload as { thread: string }).thread === thread,
})

/**
 * Jobs that wait, by id, and how often the server was asked.
 *
 * @param taken ids of those that a worker takes before they can be removed
 */
function fakeQueue(threads: readonly string[], taken: readonly string[] = []) {
  const jobs = new Map(threads.map((thread, index) => [`job-${index}`, thread]))
  const asked = { counts: 0, ranges: 0, jobs: 0 }
  const queue = {
    getJobCounts: async () => {
      asked.counts++
      return { wait: jobs.size }
    },
    getRanges: async ([type]: string[], start: number, end: number) => {
      asked.ranges++
      return type === 'wait' ? [...jobs.keys()].slice(start, end + 1) : []
    },
    getJob: async (id: string) => {
      asked.jobs++
      return jobs.has(id) ? { data: JSON.stringify({ thread: jobs.get(id) }) } : undefined
    },
    remove: async (id: string) => (jobs.delete(id) && !taken.includes(id) ? 1 : 0),
  }
  const look = {
    queue: queue as unknown as JobRemovalScan['queue'],
    stage: 'ingest',
    bounded: (work) => work,
  } as const satisfies Omit<JobRemovalScan, 'removers'>
  return { jobs, asked, look: (removers: readonly Remover[]) => scanJobs({ ...look, removers }) }
}

describe('looking for waiting jobs', () => {
  it('asks once, and for no job, where none waits', async () => {
    const { asked, look } = fakeQueue([])
    await look([remover('gone')])
    expect(asked).toEqual({ counts: 1, ranges: 0, jobs: 0 })
  })

  it('reads each job once for all who ask, tells each of its own, and only counts for who wants no more', async () => {
    const { jobs, asked, look } = fakeQueue(['one', 'other', 'counted', 'one', 'stays'])
    const removers = [remover('one'), remover('other'), remover('counted', true), remover('none')]
    await look(removers)
    expect(removers.map(({ found }) => found)).toEqual([2, 1, 1, 0])
    expect([...jobs.values()]).toEqual(['counted', 'stays'])
    // Once each, and those that are left once more, to see that none came meanwhile.
    expect(asked.jobs).toBe(7)
  })

  it('does not count what a worker has taken by then', async () => {
    const { look } = fakeQueue(['one', 'one', 'one'], ['job-1'])
    const removing = remover('one')
    await look([removing])
    expect(removing.found).toBe(2)
  })
})

const tick = () => new Promise((resolve) => setImmediate(resolve))

describe('those who want jobs removed', () => {
  it('share one look where they come while another is under way, which would have missed what came since', async () => {
    const looks: (readonly Remover[])[] = []
    let finish = () => {}
    const removals = new JobRemovals(async (removers) => {
      looks.push(removers)
      await new Promise<void>((resolve) => {
        finish = resolve
      })
      for (const each of removers) each.found += looks.length
    })
    const first = removals.remove(() => true, false)
    await tick()
    const later = [1, 2, 3].map(() => removals.remove(() => true, true))
    expect(looks.map(({ length }) => length)).toEqual([1])
    finish()
    expect(await first).toBe(1)
    await tick()
    await tick()
    expect(looks.map(({ length }) => length)).toEqual([1, 3])
    finish()
    expect(await Promise.all(later)).toEqual([2, 2, 2])
  })

  it('are told of a failure, and the next are served all the same', async () => {
    let isAway = true
    const removals = new JobRemovals(async () => {
      if (isAway) throw new Error('away')
    })
    await expect(removals.remove(() => true, false)).rejects.toThrow('away')
    isAway = false
    expect(await removals.remove(() => true, false)).toBe(0)
  })
})
