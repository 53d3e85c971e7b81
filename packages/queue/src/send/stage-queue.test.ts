import { expect, it } from 'vitest'
import type { Backend, KeyHolder } from '../base/backend.js'
import { StageQueue } from './stage-queue.js'

const wakeOf = (threadId: string) => ({ projectId: 'project', threadId })
const keyOf = (threadId: string) => `prune-${threadId}`

/** A queue of prune with some holders of deduplication keys, which records added jobs and removed keys. */
function queueWith(holders: Readonly<Record<string, KeyHolder>>) {
  const added: string[] = []
  const removed: [key: string, jobId: string][] = []
  class Queue {
    readonly name = 'heddle-prune'
    readonly backend = {
      removeDeduplicationKey: async (key: string, jobId: string) => void removed.push([key, jobId]),
    }
    on() {}
    async addBulk(jobs: readonly { data: string }[]) {
      added.push(...jobs.map(({ data }) => JSON.parse(data).threadId))
    }
  }
  const backend = {
    producers: () => ({ Queue, factory: undefined, connection: {} }),
    keyHolders: async (_queue: unknown, keys: readonly string[]) =>
      new Map(Object.entries(holders).filter(([key]) => keys.includes(key))),
  } as unknown as Backend
  return { queue: new StageQueue('prune', backend, 'heddle', () => {}), added, removed }
}

it('wakes again every thread without a waiting or delayed job', async () => {
  const { queue, added, removed } = queueWith({
    [keyOf('waiting')]: { jobId: '1', state: 'waiting' },
    [keyOf('to be tried again')]: { jobId: '2', state: 'delayed' },
    [keyOf('under way')]: { jobId: '3', state: 'active' },
  })
  const threads = ['waiting', 'to be tried again', 'under way', 'without a job']
  expect(await queue.rewake(threads.map(wakeOf))).toBe(2)
  expect(added).toEqual(['under way', 'without a job'])
  expect(removed).toEqual([])
})

it('removes the deduplication key of a job that no longer exists, only for that job', async () => {
  const { queue, added, removed } = queueWith({ [keyOf('lost')]: { jobId: 'gone', state: 'unknown' } })
  expect(await queue.rewake([wakeOf('lost')])).toBe(1)
  expect(added).toEqual(['lost'])
  expect(removed).toEqual([[keyOf('lost'), 'gone']])
})
