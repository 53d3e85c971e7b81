import { randomUUID } from 'node:crypto'
import { PermanentError, RetryableError } from '@heddle/contracts'
import { done, openQueues } from '@heddle/queue'
import { backends, waitFor } from '@heddle/test-support'
import { describe, expect, it } from 'vitest'
import { freshPlace, gate, ingestJob, log, proxyTo, queuesAt, someThread, startWorker } from './support.js'

/** Longer than the timeout of a producer. */
const soonMs = 8_000

describe.each(backends())('an outage of $title', ({ skip, open }) => {
  describe.skipIf(skip)('while it lasts', () => {
    it('is reported to producers soon, and they continue when it is over', async () => {
      const place = await freshPlace(open)
      const proxy = await proxyTo(place.backend.url)
      const queues = await queuesAt({ ...place, backend: { ...place.backend, url: proxy.url } })
      await queues.add('ingest', ingestJob())
      await proxy.stop()
      const startedMs = performance.now()
      const results = await Promise.allSettled([
        queues.add('ingest', ingestJob()),
        queues.wake('prune', someThread()),
        queues.stats(),
        queues.ping(),
        queues.reply('someone', { requestId: randomUUID(), ok: true }),
      ])
      for (const result of results) {
        expect(result).toMatchObject({ status: 'rejected', reason: { code: 'SERVICE_UNAVAILABLE' } })
      }
      expect(performance.now() - startedMs).toBeLessThan(soonMs)
      await proxy.start()
      for (let tries = 0; ; tries++) {
        try {
          await queues.add('ingest', ingestJob())
          break
        } catch (error) {
          if (tries === 10) throw error
        }
      }
    })

    it('in which connections are accepted and never answered ends for producers when the server answers again', async () => {
      const place = await freshPlace(open)
      const proxy = await proxyTo(place.backend.url)
      const queues = await queuesAt({ ...place, backend: { ...place.backend, url: proxy.url } })
      proxy.silence()
      await expect(queues.add('ingest', ingestJob())).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
      // Connections from the silent phase stay silent.
      proxy.speak()
      const add = () => queues.add('ingest', ingestJob()).then(() => true)
      await waitFor(add, { what: 'the queue to take a job', timeoutMs: 20_000 })
    })

    it('is survived by workers, inboxes and subscribers, which reconnect by themselves', async () => {
      const place = await freshPlace(open)
      const proxy = await proxyTo(place.backend.url)
      const behind = { ...place, backend: { ...place.backend, url: proxy.url } }
      const [near, far] = [await queuesAt(place), await queuesAt(behind)]
      const started = gate()
      const finish = gate()
      let calls = 0
      const worker = await startWorker({
        stage: 'ingest',
        queues: far,
        handler: async () => {
          if (++calls === 1) {
            started.open()
            await finish.promise
          }
          return done()
        },
      })
      await near.add('ingest', ingestJob())
      await started.promise
      await proxy.stop()
      // It ends while the server is down, and is recorded as completed when the server is back, without running twice.
      finish.open()
      await near.add('ingest', ingestJob())
      await proxy.start()
      expect((await worker.whenSettled(2)).map(({ result, attempt }) => [result, attempt])).toEqual([
        ['done', 1],
        ['done', 1],
      ])
      expect(calls).toBe(2)
      // Replies arrive again, instead of only being read on the timer.
      for (let tries = 0; ; tries++) {
        const requestId = randomUUID()
        const expected = far.expectReply({ requestId, deadlineMs: 1_000, readEveryMs: 60_000, read: async () => true })
        await near.reply(far.inbox, { requestId, ok: true })
        if (
          await expected.result.then(
            () => true,
            () => false,
          )
        )
          break
        expect(tries).toBeLessThan(10)
      }
    })

    it('at the start is reported, and so is an address without a server', async () => {
      const place = await freshPlace(open)
      const proxy = await proxyTo(place.backend.url)
      await proxy.stop()
      const startedMs = performance.now()
      const opening = openQueues({ ...place, backend: { ...place.backend, url: proxy.url }, log, create: true })
      await expect(opening).rejects.toBeInstanceOf(RetryableError)
      await expect(opening).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', hint: expect.any(String) })
      expect(performance.now() - startedMs).toBeLessThan(soonMs)
    })
  })

  it.skipIf(skip)('is not reported as a refused job', async () => {
    const place = await freshPlace(open)
    if (place.backend.kind === 'postgres') {
      const url = new URL(place.backend.url)
      url.pathname = '/heddle_no_such_database'
      const opening = openQueues({ ...place, backend: { kind: 'postgres', url: url.href }, log, create: true })
      await expect(opening).rejects.toBeInstanceOf(PermanentError)
      await expect(opening).rejects.toMatchObject({ code: 'NOT_FOUND' })
    } else {
      const url = new URL(place.backend.url)
      url.username = 'nobody'
      url.password = 'wrong'
      const opening = openQueues({ ...place, backend: { kind: 'redis', url: url.href }, log, create: true })
      await expect(opening).rejects.toBeInstanceOf(PermanentError)
      await expect(opening).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    }
  })
})
