import { randomUUID } from 'node:crypto'
import { ConflictError, PermanentError, RetryableError, stalledCountMax } from '@heddle/contracts'
import { done, skipped } from '@heddle/queue'
import { backends } from '@heddle/test-support'
import { breakPayloads } from '@heddle/test-support/servers/queue-server'
import { describe, expect, it } from 'vitest'
import { freshPlace, freshQueues, ingestJob, markStalled, queuesAt, someThread, startWorker } from './support.js'

describe.each(backends())('a worker on $title', ({ skip, open }) => {
  describe.skipIf(skip)('handles a job', () => {
    it('with its payload unchanged, whatever characters it holds', async () => {
      const queues = await freshQueues(open)
      const received: unknown[] = []
      const worker = await startWorker({
        stage: 'ingest',
        queues,
        handler: async ({ payload, attempt, attemptsMax }) => {
          received.push(payload, attempt, attemptsMax)
          return done()
        },
      })
      const content = 'NUL \u0000, a lone surrogate \ud800, "quotes", \\ and 🧵'
      const job = ingestJob({
        messages: [
          { message: { id: randomUUID(), role: 'user', content }, ordinal: 0, orderedAt: '2026-02-12T14:30:00Z' },
        ],
      })
      await queues.add('ingest', job)
      expect(await worker.whenSettled(1)).toMatchObject([{ stage: 'ingest', attempt: 1, result: 'done' }])
      expect(received).toEqual([job, 1, 8])
    })

    it('and wakes the next stages before it completes', async () => {
      const queues = await freshQueues(open)
      const thread = someThread()
      const woken: unknown[] = []
      const prune = await startWorker({
        stage: 'prune',
        queues,
        handler: async ({ payload }) => {
          woken.push(payload)
          return skipped('nothing to do', [{ wake: 'embed', ...thread }])
        },
      })
      const embed = await startWorker({ stage: 'embed', queues, handler: async () => done() })
      await startWorker({ stage: 'ingest', queues, handler: async () => done([{ wake: 'prune', ...thread }]) })
      await queues.add('ingest', ingestJob())
      expect(await prune.whenSettled(1)).toMatchObject([{ result: 'skipped' }])
      expect(await embed.whenSettled(1)).toMatchObject([{ result: 'done' }])
      expect(woken).toEqual([thread])
    })

    it('as often as it was sent, except an assemble job that waits already', async () => {
      const queues = await freshQueues(open)
      const job = ingestJob()
      const context = { projectId: randomUUID(), contextId: randomUUID() }
      await queues.addMany('ingest', [job, job])
      await queues.add('assemble', context)
      await queues.add('assemble', context)
      const stats = await queues.stats()
      expect(stats.map(({ stage, waiting }) => [stage, waiting])).toEqual([
        ['ingest', 2],
        ['prune', 0],
        ['summarize', 0],
        ['embed', 0],
        ['remember', 0],
        ['assemble', 1],
      ])
      const ingest = await startWorker({ stage: 'ingest', queues, handler: async () => done() })
      expect(await ingest.whenSettled(2)).toMatchObject([{ result: 'done' }, { result: 'done' }])
    })

    it('hundreds at once, without losing any', async () => {
      const queues = await freshQueues(open)
      const seen = new Set<string>()
      const ingest = await startWorker({
        stage: 'ingest',
        queues,
        handler: async ({ payload }) => {
          seen.add(payload.requestId)
          return done()
        },
      })
      const jobs = Array.from({ length: 600 }, () => ingestJob())
      await Promise.all(jobs.map((job) => queues.add('ingest', job)))
      await ingest.whenSettled(600)
      expect(seen.size).toBe(600)
    })
  })

  describe.skipIf(skip)('keeps a dead letter', () => {
    it('of a poison job, at once, with its payload', async () => {
      const queues = await freshQueues(open)
      let calls = 0
      const worker = await startWorker({
        stage: 'ingest',
        queues,
        handler: async () => {
          calls++
          return done()
        },
      })
      const poison = { ...ingestJob(), messages: 'none' }
      await queues.add('ingest', poison as never)
      expect(await worker.whenSettled(1)).toMatchObject([{ attempt: 1, result: 'dead' }])
      expect(calls).toBe(0)
      expect(worker.letters).toMatchObject([
        {
          stage: 'ingest',
          payload: poison,
          projectId: poison.projectId,
          threadId: null,
          attempts: 1,
          error: { code: 'VALIDATION_ERROR', field: 'messages' },
        },
      ])
    })

    it('of a job that is not JSON, at once, and goes on with the others', async () => {
      const place = await freshPlace(open)
      const queues = await queuesAt(place)
      await queues.pause('ingest')
      await queues.addMany('ingest', [ingestJob(), ingestJob({ agent: 'to be broken' }), ingestJob()])
      await breakPayloads(place, 'ingest', 'to be broken')
      const worker = await startWorker({ stage: 'ingest', queues, handler: async () => done() })
      await queues.resume('ingest')
      const ends = await worker.whenSettled(3)
      expect(ends.map(({ result }) => result).sort()).toEqual(['dead', 'done', 'done'])
      expect(worker.letters).toMatchObject([
        { stage: 'ingest', attempts: 1, projectId: null, error: { code: 'VALIDATION_ERROR' } },
      ])
      expect(worker.letters[0]?.payload).toEqual(expect.stringContaining('half a job'))
      const [ingest] = await queues.stats()
      expect(ingest).toMatchObject({ waiting: 0, active: 0, delayed: 0, failed: 0 })
    })

    it.each([
      ['permanent', new PermanentError('NOT_FOUND', 'gone'), 'NOT_FOUND'],
      ['a conflict', new ConflictError('another message has this id'), 'CONFLICT'],
    ])('of a job whose error is %s, at once, with its thread', async (_title, error, code) => {
      const queues = await freshQueues(open)
      const thread = someThread()
      const worker = await startWorker({
        stage: 'prune',
        queues,
        handler: async () => {
          throw error
        },
      })
      await queues.wake('prune', thread)
      expect(await worker.whenSettled(1)).toMatchObject([{ attempt: 1, result: 'dead', error: { code } }])
      expect(worker.letters).toMatchObject([{ ...thread, error: { code }, attempts: 1 }])
      expect(worker.letters[0]?.jobId).toBe(worker.settled[0]?.jobId)
    })

    it('of a job that has used up its attempts', async () => {
      const queues = await freshQueues(open)
      const worker = await startWorker({
        stage: 'ingest',
        queues,
        attempts: 3,
        handler: async () => {
          throw new Error('as always')
        },
      })
      await queues.add('ingest', ingestJob())
      const ends = await worker.whenSettled(3)
      expect(ends.map(({ attempt, result }) => [attempt, result])).toEqual([
        [1, 'retried'],
        [2, 'retried'],
        [3, 'dead'],
      ])
      expect(worker.letters).toMatchObject([{ attempts: 3, error: { code: 'INTERNAL', detail: 'as always' } }])
    })

    it('of a job on which one worker after the other died', async () => {
      const place = await freshPlace(open)
      const queues = await queuesAt(place)
      await queues.pause('ingest')
      await queues.add('ingest', ingestJob())
      await markStalled(place, 'ingest', stalledCountMax + 1)
      let calls = 0
      const worker = await startWorker({
        stage: 'ingest',
        queues,
        handler: async () => {
          calls++
          return done()
        },
      })
      await queues.resume('ingest')
      expect(await worker.whenSettled(1)).toMatchObject([{ result: 'dead', error: { code: 'INTERNAL' } }])
      expect(worker.letters).toHaveLength(1)
      expect(calls).toBe(0)
    })

    it('before the job is removed: while no dead letter can be stored, the job stays at its last attempt', async () => {
      const queues = await freshQueues(open)
      const kept: string[] = []
      let refusals = 2
      const worker = await startWorker({
        stage: 'ingest',
        queues,
        attempts: 1,
        handler: async () => {
          throw new Error('as always')
        },
        recordDeadLetter: async ({ jobId }) => {
          if (refusals-- > 0) throw new RetryableError('SERVICE_UNAVAILABLE', 'the store is away')
          kept.push(jobId)
        },
      })
      await queues.add('ingest', ingestJob())
      const ends = await worker.whenSettled(3)
      expect(ends.map(({ attempt, result }) => [attempt, result])).toEqual([
        [1, 'retried'],
        [1, 'retried'],
        [1, 'dead'],
      ])
      expect(kept).toHaveLength(1)
      const [ingest] = await queues.stats()
      expect(ingest).toMatchObject({ waiting: 0, active: 0, delayed: 0, failed: 0 })
    })
  })

  describe.skipIf(skip)('retries', () => {
    it('and completes when a later attempt succeeds', async () => {
      const queues = await freshQueues(open)
      const worker = await startWorker({
        stage: 'ingest',
        queues,
        handler: async ({ attempt }) => {
          if (attempt < 3) throw new Error('not yet')
          return done()
        },
      })
      await queues.add('ingest', ingestJob())
      const ends = await worker.whenSettled(3)
      expect(ends.map(({ attempt, result }) => [attempt, result])).toEqual([
        [1, 'retried'],
        [2, 'retried'],
        [3, 'done'],
      ])
      expect(worker.letters).toEqual([])
    })

    it('not before the time named by the error', async () => {
      const queues = await freshQueues(open)
      const triedAtMs: number[] = []
      const worker = await startWorker({
        stage: 'ingest',
        queues,
        handler: async ({ attempt }) => {
          triedAtMs.push(performance.now())
          if (attempt === 1) throw new RetryableError('RATE_LIMITED', 'busy', { retryAfter: 1.5 })
          return done()
        },
      })
      await queues.add('ingest', ingestJob())
      await worker.whenSettled(2)
      const [first = 0, second = 0] = triedAtMs
      expect(second - first).toBeGreaterThanOrEqual(1_490)
    })
  })
})
