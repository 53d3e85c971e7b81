import { done } from '@heddle/queue'
import { backends, spawnNode } from '@heddle/test-support'
import { describe, expect, it } from 'vitest'
import { freshPlace, gate, ingestJob, proxyTo, queuesAt, shortLocks, someThread, startWorker } from './support.js'

describe.each(backends())('stopping on $title', ({ skip, open }) => {
  describe.skipIf(skip)('a worker', () => {
    it('finishes its active jobs and takes no new ones', async () => {
      const place = await freshPlace(open)
      const queues = await queuesAt(place)
      const started = gate()
      const finish = gate()
      const worker = await startWorker({
        stage: 'ingest',
        queues,
        concurrency: 1,
        handler: async () => {
          started.open()
          await finish.promise
          return done()
        },
      })
      await queues.addMany('ingest', [ingestJob(), ingestJob()])
      await started.promise
      const closing = worker.handle.close({ timeoutMs: 20_000 })
      finish.open()
      await closing
      expect(worker.settled).toMatchObject([{ result: 'done' }])
      expect((await queues.stats())[0]).toMatchObject({ waiting: 1, active: 0 })
    })

    it('sends the replies of the jobs that it finished', async () => {
      const place = await freshPlace(open)
      const sender = await queuesAt(place)
      const queues = await queuesAt(place)
      const started = gate()
      const finish = gate()
      await startWorker({
        stage: 'ingest',
        queues,
        handler: async () => {
          started.open()
          await finish.promise
          return done()
        },
      })
      const job = ingestJob({ replyTo: sender.inbox })
      const never = { firstReadMs: 20_000, readEveryMs: 20_000, read: async () => undefined }
      const reply = sender.expectReply({ requestId: job.requestId, deadlineMs: 20_000, whenOk: true, ...never })
      await sender.add('ingest', job)
      await started.promise
      const closing = queues.close()
      finish.open()
      await closing
      expect(await reply.result).toBe(true)
    })

    it('releases the jobs of handlers that obey their abort signal, without counting the attempt', async () => {
      const place = await freshPlace(open)
      const queues = await queuesAt(place)
      const started = gate()
      const worker = await startWorker({
        stage: 'prune',
        queues,
        handler: ({ signal }) => {
          started.open()
          return new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(new Error('stopped half way')))
          })
        },
      })
      await queues.wake('prune', someThread())
      await started.promise
      await worker.handle.close({ timeoutMs: 50 })
      expect(worker.settled).toMatchObject([{ result: 'returned', attempt: 1 }])
      const next = await startWorker({ stage: 'prune', queues, handler: async () => done() })
      expect(await next.whenSettled(1)).toMatchObject([{ result: 'done', attempt: 1 }])
    })

    it('abandons a hanging handler within the time limit, and another worker takes over its job', async () => {
      const place = await freshPlace(open)
      const queues = await queuesAt(place)
      const started = gate()
      const worker = await startWorker({
        stage: 'prune',
        queues,
        timing: shortLocks,
        handler: () => {
          started.open()
          return new Promise(() => {})
        },
      })
      await queues.wake('prune', someThread())
      await started.promise
      const startedMs = performance.now()
      await worker.handle.close({ timeoutMs: 100 })
      expect(performance.now() - startedMs).toBeLessThan(5_000)
      const next = await startWorker({ stage: 'prune', queues, timing: shortLocks, handler: async () => done() })
      expect(await next.whenSettled(1)).toMatchObject([{ result: 'done' }])
    })

    it('does not wait for a server that is down', async () => {
      const place = await freshPlace(open)
      const proxy = await proxyTo(place.backend.url)
      const queues = await queuesAt({ ...place, backend: { ...place.backend, url: proxy.url } })
      const worker = await startWorker({ stage: 'prune', queues, handler: async () => done() })
      await queues.wake('prune', someThread())
      await worker.whenSettled(1)
      await proxy.stop()
      const startedMs = performance.now()
      await queues.close({ timeoutMs: 500 })
      expect(performance.now() - startedMs).toBeLessThan(8_000)
    })

    it('does not keep the process alive, also while a handler hangs', async () => {
      const place = await freshPlace(open)
      const process = spawnNode(new URL('closing-process.ts', import.meta.url), {
        parameters: [place.backend.kind, place.backend.url, place.prefix],
      })
      await process.line(/^ready$/)
      await process.line(/^taken$/)
      process.tell('close')
      await process.line(/^closed after \d+$/)
      const closedMs = performance.now()
      expect(await process.exited).toEqual({ code: 0, signal: null })
      expect(performance.now() - closedMs).toBeLessThan(3_000)
    })

    it('can be killed during the stop: another worker takes over its job', async () => {
      const place = await freshPlace(open)
      const queues = await queuesAt(place)
      const process = spawnNode(new URL('killed-worker-process.ts', import.meta.url), {
        parameters: [place.backend.kind, place.backend.url, place.prefix],
      })
      await process.line(/^ready$/)
      const thread = someThread()
      await queues.wake('prune', thread)
      await process.line(/^taken$/)
      process.kill('SIGKILL')
      await process.exited
      const received: unknown[] = []
      const worker = await startWorker({
        stage: 'prune',
        queues,
        timing: shortLocks,
        handler: async ({ payload }) => {
          received.push(payload)
          return done()
        },
      })
      expect(await worker.whenSettled(1)).toMatchObject([{ result: 'done', attempt: 1 }])
      expect(received).toEqual([thread])
    })
  })
})
