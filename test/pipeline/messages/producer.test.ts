import { comparePositions, projectIdOf, threadIdOf } from '@heddle/core'
import { listMessages } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openPipeline, type Pipeline, queueBackends } from '../support.js'

const THREADS = ['one', 'two', 'three']
const CALLERS = 40
const EACH = 25

/** Embedded differs from postgres only in the origin of the server, not in its effect on producers. */
describe.each(queueBackends())('a producer of many callers on $title', (backend) => {
  describe.skipIf(backend.skip)('with running workers', () => {
    let pipeline: Pipeline

    beforeAll(async () => {
      pipeline = await openPipeline(backend.mode)
    })
    afterAll(() => pipeline?.close())

    const storedIn = async (project: string, thread: string) => {
      const projectId = projectIdOf(project)
      const page = { threadId: threadIdOf(projectId, thread), afterSeq: 0, limit: 10_000 }
      return await pipeline.store.inProject(projectId, (tx) => listMessages(tx, page))
    }

    test('stores each message once, in the order of adding, with few jobs and little memory', async () => {
      const workers = await pipeline.start(['ingest'])
      onTestFinished(() => workers.stop())
      const client = pipeline.clientOf('gathered')
      const producer = client.messages.producer({ agent: 'a', batchMessagesMax: 50, pendingMessagesMax: 60 })
      const added = new Map<string, string[]>(THREADS.map((thread) => [thread, []]))
      const call = async (caller: number) => {
        for (let turn = 0; turn < EACH; turn++) {
          const thread = THREADS[(caller + turn) % THREADS.length] ?? ''
          const content = `${caller}-${turn}`
          added.get(thread)?.push(content)
          // Times out of order must not change the order.
          const sentAt = new Date(Date.UTC(2026, 1, 12) + ((caller * 7 + turn * 13) % 100) * 1_000).toISOString()
          await producer.add(thread, { role: 'user', content, ...(turn % 2 === 0 && { sentAt }) })
        }
      }
      await Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)))
      await producer.close()
      for (const thread of THREADS) {
        const stored = await storedIn('gathered', thread)
        expect(stored.map(({ content }) => content)).toEqual(added.get(thread))
        expect([...stored].sort(comparePositions).map(({ content }) => content)).toEqual(added.get(thread))
      }
    })

    test('reports to each caller only its own fault', async () => {
      const workers = await pipeline.start(['ingest'])
      onTestFinished(() => workers.stop())
      const client = pipeline.clientOf('faulty')
      const id = '018f0000-0000-7000-8000-0000000000aa'
      await client.messages.append({ agent: 'a', thread: 't', messages: [{ id, role: 'user', content: 'first' }] })
      const producer = client.messages.producer({ agent: 'a' })
      const ends = await Promise.allSettled([
        producer.add('t', { role: 'user', content: 'before' }),
        producer.add('t', { id, role: 'user', content: 'another' }),
        producer.add('t', { role: 'user', content: 'after' }),
        producer.add('t', { id, role: 'user', content: 'first' }),
      ])
      expect(ends).toMatchObject([
        { status: 'fulfilled' },
        { status: 'rejected', reason: { code: 'CONFLICT' } },
        { status: 'fulfilled' },
        { status: 'fulfilled', value: { id } },
      ])
      const stranger = client.messages.producer({ agent: 'someone else' })
      await expect(stranger.add('t', { role: 'user', content: 'mine' })).rejects.toMatchObject({ field: 'agent' })
      expect((await storedIn('faulty', 't')).map(({ content }) => content)).toEqual(['first', 'before', 'after'])
    })

    test('survives an absence of workers, and blocks instead of filling its memory', async () => {
      const client = pipeline.clientOf('held up')
      const producer = client.messages.producer({ agent: 'a', pendingMessagesMax: 10, deadlineMs: 60_000 })
      let acknowledged = 0
      const all = Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          await producer.add('t', { role: 'user', content: String(index) })
          acknowledged++
        }),
      )
      await waitFor(async () => (await pipeline.queues.stats()).find(({ stage }) => stage === 'ingest')?.waiting === 1)
      expect(acknowledged).toBe(0)
      await expect(producer.add('t', { role: 'user', content: 'too many' })).rejects.toMatchObject({
        code: 'RATE_LIMITED',
      })
      await pipeline.start(['ingest'])
      await all
      await producer.close()
      const stored = await storedIn('held up', 't')
      expect(stored.map(({ content }) => content)).toEqual(Array.from({ length: 20 }, (_, index) => String(index)))
    })
  })
})
