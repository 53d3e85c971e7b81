import { RetryableError } from '@heddle/contracts'
import { done } from '@heddle/queue'
import { backends, waitFor } from '@heddle/test-support'
import { describe, expect, it } from 'vitest'
import { freshQueues, gate, ingestJob, someThread, startWorker } from './support.js'

const isThread = (name: string) => (job: { payload: unknown }) =>
  (job.payload as { thread?: string } | null)?.thread === name

describe.each(backends())('removing jobs on $title', ({ skip, open }) => {
  describe.skipIf(skip)('that wait', () => {
    it('finds them on every page, keeps all others, and finds nothing the second time', async () => {
      const queues = await freshQueues(open)
      const jobs = Array.from({ length: 90 }, (_, index) => ingestJob({ thread: index % 3 === 0 ? 'gone' : 'stays' }))
      await queues.addMany('ingest', jobs)
      expect(await queues.removeJobs(isThread('gone'), { dryRun: true })).toBe(30)
      expect(await queues.removeJobs(isThread('gone'))).toBe(30)
      expect(await queues.removeJobs(isThread('gone'))).toBe(0)
      expect((await queues.stats())[0]).toMatchObject({ stage: 'ingest', waiting: 60 })
      const seen: string[] = []
      const worker = await startWorker({
        stage: 'ingest',
        queues,
        handler: async ({ payload }) => {
          seen.push(payload.thread)
          return done()
        },
      })
      await worker.whenSettled(60)
      expect(new Set(seen)).toEqual(new Set(['stays']))
    })

    it('also finds jobs of a paused stage and jobs that wait for their next attempt', async () => {
      const queues = await freshQueues(open)
      const worker = await startWorker({
        stage: 'ingest',
        queues,
        handler: async () => {
          throw new RetryableError('TIMEOUT', 'slow', { retryAfter: 900 })
        },
      })
      await queues.add('ingest', ingestJob({ thread: 'gone' }))
      await waitFor(async () => (await queues.stats())[0]?.delayed === 1)
      await worker.handle.close()
      await queues.pause('ingest')
      await queues.add('ingest', ingestJob({ thread: 'gone' }))
      expect(await queues.removeJobs(isThread('gone'))).toBe(2)
      expect((await queues.stats())[0]).toMatchObject({ waiting: 0, delayed: 0, paused: true })
    })

    it('does not remove a job that a worker holds, and frees the wake-up of its thread', async () => {
      const queues = await freshQueues(open)
      const thread = someThread()
      const [started, finish] = [gate(), gate()]
      const worker = await startWorker({
        stage: 'ingest',
        queues,
        handler: async () => {
          started.open()
          await finish.promise
          return done()
        },
      })
      await queues.add('ingest', ingestJob({ thread: 'gone' }))
      await started.promise
      await queues.wake('prune', thread)
      expect(await queues.removeJobs(() => true)).toBe(1)
      finish.open()
      expect(await worker.whenSettled(1)).toMatchObject([{ result: 'done' }])
      await queues.wake('prune', thread)
      expect((await queues.stats())[1]).toMatchObject({ stage: 'prune', waiting: 1 })
    })
  })
})
