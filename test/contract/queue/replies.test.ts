import { randomUUID } from 'node:crypto'
import { type HeddleEvent, PermanentError, RetryableError } from '@heddle/contracts'
import { type Answer, done } from '@heddle/queue'
import { backends } from '@heddle/test-support'
import { describe, expect, it } from 'vitest'
import { freshPlace, freshQueues, gate, ingestJob, queuesAt, startWorker } from './support.js'

const never = 60_000

/** The part of an answer that its opener sees. */
function told(answer: unknown): string {
  if (answer instanceof Uint8Array) return `${answer.length} bytes, first ${answer[0]}`
  return `${(answer as { text: string }).text.length} characters`
}

describe.each(backends())('replies on $title', ({ skip, open }) => {
  describe.skipIf(skip)('to a waiting caller', () => {
    it('arrive from another process, and the caller reads the row', async () => {
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

    it('carry the answer where the channel is large enough; otherwise the caller reads it from the store', async () => {
      const place = await freshPlace(open)
      const [client, server] = [await queuesAt(place), await queuesAt(place)]
      const answers = new Map<string, Answer>()
      await startWorker({
        stage: 'assemble',
        queues: server,
        handler: async ({ payload }) => done([], 'contextId' in payload ? answers.get(payload.contextId) : undefined),
      })
      const ask = async (answer: Answer | undefined, open?: (given: unknown) => Promise<string | undefined>) => {
        const contextId = randomUUID()
        if (answer !== undefined) answers.set(contextId, answer)
        const expected = client.expectReply({
          requestId: contextId,
          deadlineMs: 10_000,
          readEveryMs: never,
          firstReadMs: never,
          read: async () => 'looked up',
          open: open ?? (async (given) => told(given)),
        })
        await client.add('assemble', { projectId: randomUUID(), contextId, replyTo: client.inbox })
        return await expected.result
      }
      const isWide = place.backend.kind === 'redis'
      expect(await ask(Buffer.alloc(20_000, 7))).toBe(isWide ? '20000 bytes, first 7' : 'looked up')
      expect(await ask(Buffer.alloc(180_000, 7))).toBe(isWide ? '180000 bytes, first 7' : 'looked up')
      expect(await ask(Buffer.alloc(180_001, 7))).toBe('looked up')
      expect(await ask(Buffer.alloc(5_475, 7))).toBe('5475 bytes, first 7')
      expect(await ask(Buffer.alloc(5_476, 7))).toBe(isWide ? '5476 bytes, first 7' : 'looked up')
      const textOf = (bytes: number) => JSON.stringify({ text: 'ö'.repeat((bytes - '{"text":""}'.length) / 2) })
      expect(await ask(textOf(7_299))).toBe('3644 characters')
      expect(await ask(textOf(20_001))).toBe(isWide ? '9995 characters' : 'looked up')
      expect(await ask(textOf(239_999))).toBe(isWide ? '119994 characters' : 'looked up')
      expect(await ask(textOf(240_001))).toBe('looked up')
      expect(await ask(undefined)).toBe('looked up')
      expect(await ask(Buffer.alloc(9), async () => undefined)).toBe('looked up')
      expect(await ask(Buffer.alloc(9), () => Promise.reject(new Error('damaged')))).toBe('looked up')
      const many = Array.from({ length: 40 }, () => ask(Buffer.alloc(160_000, 7)))
      expect(new Set(await Promise.all(many))).toEqual(new Set([isWide ? '160000 bytes, first 7' : 'looked up']))
    })

    it.each([Buffer.alloc(5, 7), '{"text":"built"}'])(
      'carry the answer within one process, on every backend: %j',
      async (answer) => {
        const queues = await freshQueues(open)
        await startWorker({ stage: 'assemble', queues, handler: async () => done([], answer) })
        const contextId = randomUUID()
        const expected = queues.expectReply<string>({
          requestId: contextId,
          deadlineMs: 10_000,
          readEveryMs: never,
          firstReadMs: never,
          read: async () => 'looked up',
          open: async (given) => told(given),
        })
        await queues.add('assemble', { projectId: randomUUID(), contextId, replyTo: queues.inbox })
        expect(await expected.result).toBe(typeof answer === 'string' ? '5 characters' : '5 bytes, first 7')
      },
    )

    it('let a worker know how many bytes they can carry, before it answers', async () => {
      const place = await freshPlace(open)
      const [client, server] = [await queuesAt(place), await queuesAt(place)]
      const seen: (number | undefined)[] = []
      await startWorker({
        stage: 'assemble',
        queues: server,
        handler: async ({ answerBytesMax }) => {
          seen.push(answerBytesMax)
          return done()
        },
      })
      for (const asking of [client, server]) {
        const contextId = randomUUID()
        const expected = asking.expectReply({ requestId: contextId, deadlineMs: 10_000, read: async () => true })
        await asking.add('assemble', { projectId: randomUUID(), contextId, replyTo: asking.inbox })
        await expected.result
      }
      expect(seen).toEqual([place.backend.kind === 'redis' ? 240_000 : 7_300, 1_000_000])
    })

    it('carry a limited number of answers at once: later callers read theirs from the store', async () => {
      const queues = await freshQueues(open)
      const expectOne = () =>
        queues.expectReply<string>({
          requestId: randomUUID(),
          deadlineMs: 10_000,
          readEveryMs: never,
          read: async () => undefined,
          open: async () => 'brought',
        })
      const first = Array.from({ length: 64 }, expectOne)
      expect(first.every(({ takesAnswer }) => takesAnswer)).toBe(true)
      expect(expectOne().takesAnswer).toBe(false)
      first[0]?.cancel()
      expect(expectOne().takesAnswer).toBe(true)
    })

    it('carry the error of a job that failed permanently, cut to the size limit of a notification', async () => {
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

    it('can be lost: the caller reads the row on a timer', async () => {
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

    it('can arrive before the row is visible: the caller reads again', async () => {
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

    it('end at the deadline, whether the store answers, fails or hangs', async () => {
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

    it('end with the error of a store that refuses, with an abort, and when the queues close', async () => {
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

    it('are dropped when no caller waits any longer', async () => {
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

    it('are not awaited without a deadline', async () => {
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
