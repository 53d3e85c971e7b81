import { done, openQueues } from '@heddle/queue'
import { backends } from '@heddle/test-support'
import { describe, expect, it } from 'vitest'
import { freshPlace, freshQueues, ingestJob, log, queuesAt, startWorker } from './support.js'

describe.each(backends())('the queues on $title', ({ skip, open }) => {
  describe.skipIf(skip)('from outside', () => {
    it('show how much waits and for how long, hold jobs back while paused, and continue when resumed', async () => {
      const queues = await freshQueues(open)
      await queues.pause('ingest')
      const worker = await startWorker({ stage: 'ingest', queues, handler: async () => done() })
      await queues.addMany('ingest', [ingestJob(), ingestJob(), ingestJob()])
      const [paused] = await queues.stats()
      expect(paused).toMatchObject({ stage: 'ingest', waiting: 3, active: 0, delayed: 0, failed: 0, paused: true })
      expect(paused?.oldestWaitMs).toBeGreaterThanOrEqual(0)
      expect(worker.settled).toEqual([])
      await queues.resume('ingest')
      await worker.whenSettled(3)
      expect((await queues.stats())[0]).toMatchObject({
        stage: 'ingest',
        waiting: 0,
        active: 0,
        delayed: 0,
        failed: 0,
        paused: false,
        oldestWaitMs: null,
      })
    })

    it('measure the wait of the oldest job, not of the newest', async () => {
      const queues = await freshQueues(open)
      const startedMs = Date.now()
      await queues.add('ingest', ingestJob())
      while (Date.now() < startedMs + 120) await new Promise((resolve) => setImmediate(resolve))
      await queues.add('ingest', ingestJob())
      const [ingest] = await queues.stats()
      expect(ingest?.oldestWaitMs).toBeGreaterThanOrEqual(100)
    })

    it('report the properties of their server', async () => {
      const queues = await freshQueues(open)
      const facts = await queues.ping()
      expect(facts.version).toMatch(/^\d+\.\d+/)
      expect(facts.latencyMs).toBeGreaterThan(0)
      // The persistence of the server of these tests is up to its owner.
      expect(facts.warnings.filter(({ what }) => !what.includes('appendonly'))).toEqual([])
    })

    it('can be opened for the first time by ten processes at once', async () => {
      const place = await freshPlace(open)
      const all = await Promise.all(Array.from({ length: 10 }, () => queuesAt(place)))
      await Promise.all(all.map((queues) => queues.add('ingest', ingestJob())))
      expect((await all[0]?.stats())?.[0]?.waiting).toBe(10)
    })

    it('keep prefixes apart, and leave no data of their prefix when destroyed', async () => {
      const place = await freshPlace(open)
      const mine = await queuesAt(place)
      const theirs = await queuesAt({ ...place, prefix: `${place.prefix}x` })
      await mine.add('ingest', ingestJob())
      expect((await theirs.stats())[0]?.waiting).toBe(0)
      await theirs.add('ingest', ingestJob())
      await mine.destroy()
      expect((await (await queuesAt(place)).stats())[0]?.waiting).toBe(0)
      expect((await theirs.stats())[0]?.waiting).toBe(1)
      await theirs.destroy()
    })

    it('refuse a prefix that the server would reject', async () => {
      const place = await freshPlace(open)
      for (const prefix of ['', 'a:b', 'a*', 'A', 'a'.repeat(41)]) {
        await expect(openQueues({ backend: place.backend, prefix, log, create: true })).rejects.toMatchObject({
          field: 'prefix',
        })
      }
    })
  })
})
