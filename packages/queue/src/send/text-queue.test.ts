import type { IQueueBackend } from 'bullmq'
import { expect, test } from 'vitest'
import type { NewJobs } from './plain-jobs.js'
import { type NewJob, TextQueue } from './text-queue.js'

test('texts are stored as BullMQ would store jobs of them', async () => {
  const added: NewJobs[] = []
  const backend = {
    addJobs: async (jobs: NewJobs) => {
      added.push(jobs)
      return jobs.map(({ jobId = '' }) => jobId)
    },
    waitUntilReady: async () => {},
    close: async () => {},
    on() {},
  }
  const queue = new TextQueue(
    'ingest',
    { connection: {}, skipVersionCheck: true },
    () => backend as unknown as IQueueBackend,
  )
  const opts = { attempts: 5, backoff: { type: 'custom' }, removeOnComplete: true, stackTraceLimit: 0 }
  const jobs: NewJob[] = [
    { name: 'ingest', data: '{"n":1}', opts: { ...opts, jobId: 'one' } },
    { name: 'ingest', data: '{"n":2}', opts: { ...opts, jobId: 'two', telemetry: { metadata: '00-aa-bb-01' } } },
    { name: 'ingest', data: '{"n":3}', opts: { ...opts, jobId: 'three' } },
  ]
  await queue.addBulk(jobs)
  await queue.addTexts(jobs)
  const [byBullMq, byTexts] = added.map((entries) =>
    entries.map(({ jobId, job }) => {
      const { timestamp, opts: options, parentKey, ...rest } = JSON.parse(JSON.stringify(job))
      expect(timestamp).toBeCloseTo(Date.now(), -4)
      expect(parentKey).toBeUndefined()
      return { jobId, options, ...rest }
    }),
  )
  expect(byTexts).toEqual(byBullMq)
  expect(byTexts?.map(({ data }) => data)).toEqual(jobs.map(({ data }) => data))
})
