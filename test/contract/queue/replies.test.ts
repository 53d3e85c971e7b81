import { randomUUID } from 'node:crypto'
import { type HeddleEvent, PermanentError, RetryableError } from '@heddle/contracts'
import { done } from '@heddle/queue'
import { backends } from '@heddle/test-support'
import { describe, expect, it } from 'vitest'
import { freshPlace, freshQueues, gate, ingestJob, queuesAt, startWorker } from './support.js'

const never = 60_000

describe.each(backends())('replies on $title', ({ skip, open }) => {
  describe.skipIf(skip)('to who waits', () => {
    it('come from another process, and lead to the row', async () => {
      const place = await freshPlace(open)
      const [client, server] = [await queuesAt(place), await queuesAt(place)]
      const rows = new Map<string, string>()
      await startWorker({
        stage: 'ingest',
        queues: server,
        handler: async ({ payload }) => {
          rows.set(payload.requestId, 'stored')
          return done()
        },
      })
      const job = ingestJob({ replyTo: client.inbox })
      const expected = client.expectReply({
        requestId: job.requestId,
        deadlineMs: 10_000,
        readEveryMs: never,
        read: async () => rows.get(job.requestId),
      })
      await client.add('ingest', job)
      expect(await expected.result).toBe('stored')
    })

    it('name a context by its id', async () => {
      const place = await freshPlace(open)
      const [client, server] = [await queuesAt(place), await queuesAt(place)]
      await startWorker({ stage: 'assemble', queues: server, handler: async () => done() })
      const contextId = randomUUID()
      const expected = client.expectReply({
        requestId: contextId,
        deadlineMs: 10_000,
        readEveryMs: never,
        read: async () => 'built',
      })
      await client.add('assemble', { projectId: randomUUID(), contextId, replyTo: client.inbox })
      expect(await expected.result).toBe('built')
    })

    it('carry the error of a job that failed for good, cut to what a notification may hold', async () => {
      const place = await freshPlace(open)
      const [client, server] = [await queuesAt(place), await queuesAt(place)]
      await startWorker({
        stage: 'ingest',
        queues: server,
        handler: async () => {
          throw new PermanentError('CONFLICT', '🧵'.repeat(5_000), { facts: { list: 'x'.repeat(9_000) } })
        },
      })
      const job = ingestJob({ replyTo: client.inbox })
      const expected = client.expectReply({
        requestId: job.requestId,
        deadlineMs: 10_000,
        readEveryMs: never,
        read: async () => undefined,
      })
      await client.add('ingest', job)
      await expect(expected.result).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('🧵') })
    })

    it('may be lost: the row is looked at from time to time', async () => {
      const queues = await freshQueues(open)
      let reads = 0
      const expected = queues.expectReply({
        requestId: randomUUID(),
        deadlineMs: 10_000,
        readEveryMs: 20,
        read: async () => (++reads === 3 ? 'found' : undefined),
      })
      expect(await expected.result).toBe('found')
      expect(reads).toBe(3)
    })

    it('may be early: a row that is not there yet is looked for again', async () => {
      const queues = await freshQueues(open)
      const requestId = randomUUID()
      let reads = 0
      const expected = queues.expectReply({
        requestId,
        deadlineMs: 10_000,
        readEveryMs: never,
        read: async () => (++reads === 2 ? 'found' : undefined),
      })
      await queues.reply(queues.inbox, { requestId, ok: true })
      expect(await expected.result).toBe('found')
    })

    it('end at the deadline, whatever the store does', async () => {
      const queues = await freshQueues(open)
      const startedMs = performance.now()
      const hanging = queues.expectReply({
        requestId: randomUUID(),
        deadlineMs: 150,
        readEveryMs: 10,
        read: () => new Promise(() => {}),
      })
      const failing = queues.expectReply({
        requestId: randomUUID(),
        deadlineMs: 150,
        readEveryMs: 10,
        read: async () => {
          throw new RetryableError('SERVICE_UNAVAILABLE', 'the store is away')
        },
      })
      await expect(hanging.result).rejects.toMatchObject({ code: 'TIMEOUT' })
      await expect(failing.result).rejects.toMatchObject({ code: 'TIMEOUT', cause: { message: 'the store is away' } })
      expect(performance.now() - startedMs).toBeLessThan(5_000)
    })

    it('end with the error of a store that refuses, with an abort, and with the queues', async () => {
      const queues = await freshQueues(open)
      const wait = { requestId: randomUUID(), deadlineMs: never, readEveryMs: 1 }
      const refused = queues.expectReply({
        ...wait,
        read: async () => {
          throw new PermanentError('NOT_FOUND', 'no such context')
        },
      })
      await expect(refused.result).rejects.toMatchObject({ code: 'NOT_FOUND' })
      const controller = new AbortController()
      const aborted = queues.expectReply({ ...wait, signal: controller.signal, read: async () => undefined })
      controller.abort(new Error('no longer needed'))
      await expect(aborted.result).rejects.toThrow('no longer needed')
      const closed = queues.expectReply({ ...wait, read: async () => undefined })
      await queues.close()
      await expect(closed.result).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    })

    it('are dropped when nobody waits any more', async () => {
      const place = await freshPlace(open)
      const [client, server] = [await queuesAt(place), await queuesAt(place)]
      const requestId = randomUUID()
      const cancelled = client.expectReply({ requestId, deadlineMs: never, read: async () => 'late' })
      cancelled.cancel()
      await expect(cancelled.result).rejects.toThrow('cancelled')
      await server.reply(client.inbox, { requestId, ok: true })
      await server.reply('nobody', { requestId, ok: true })
      const next = randomUUID()
      const expected = client.expectReply({
        requestId: next,
        deadlineMs: 10_000,
        readEveryMs: never,
        read: async () => 'here',
      })
      await server.reply(client.inbox, { requestId: next, ok: true })
      expect(await expected.result).toBe('here')
    })

    it('are refused a wait without a bound', async () => {
      const queues = await freshQueues(open)
      const expectation = { requestId: randomUUID(), read: async () => undefined }
      for (const deadlineMs of [0, Number.NaN, Number.POSITIVE_INFINITY, 600_001]) {
        expect(() => queues.expectReply({ ...expectation, deadlineMs })).toThrow(/deadlineMs/)
      }
    })
  })

  describe.skipIf(skip)('beside events', () => {
    it('reach every subscriber of the project, and no other', async () => {
      const place = await freshPlace(open)
      const [publisher, one, other] = [await queuesAt(place), await queuesAt(place), await queuesAt(place)]
      const event = (projectId: string, number: number): HeddleEvent => ({
        projectId,
        number,
        topic: 'context.built',
        threadId: randomUUID(),
        subjectId: null,
        headSeq: 7,
      })
      const [mine, foreign] = [randomUUID(), randomUUID()]
      const received: number[][] = [[], [], []]
      const last = gate()
      await one.subscribe(mine, ({ number }) => {
        received[0]?.push(number)
        throw new Error('a listener that fails harms no other')
      })
      const unsubscribe = await one.subscribe(mine, ({ number }) => void received[1]?.push(number))
      await other.subscribe(mine, ({ number }) => {
        received[2]?.push(number)
        if (number === 3) last.open()
      })
      await publisher.publish(event(foreign, 1))
      const first = event(mine, 2)
      await publisher.publish(first)
      while (received.some((numbers) => numbers.length < 1)) await new Promise((resolve) => setImmediate(resolve))
      await unsubscribe()
      await publisher.publish(event(mine, 3))
      await last.promise
      while ((received[0]?.length ?? 0) < 2) await new Promise((resolve) => setImmediate(resolve))
      expect(received).toEqual([[2, 3], [2], [2, 3]])
    })
  })
})
