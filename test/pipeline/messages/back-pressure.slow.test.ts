import type { Client } from '@heddle/client/interface'
import { projectIdOf } from '@heddle/core'
import { createClient } from '@heddle/engine'
import { openQueues } from '@heddle/queue'
import { createLogger } from '@heddle/runtime'
import { openStore } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { proxyTo } from '../../contract/queue/support.js'
import { openPipeline, type Pipeline, queueBackends } from '../support.js'

const JOBS_MAX = 5
const log = createLogger({ level: 'fatal', name: 'test' })

/** Embedded differs from postgres only in the origin of the server, not in its effect on producers. */
describe.each(queueBackends())('a producer on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('whose queue is full', () => {
    let pipeline: Pipeline
    let client: Client
    let close = async () => {}

    beforeAll(async () => {
      pipeline = await openPipeline(mode)
      const queues = await openQueues({
        backend: pipeline.queueBackend,
        prefix: pipeline.prefix,
        log,
        ingestLimits: { jobsMax: JOBS_MAX, bytesMax: null },
        create: true,
      })
      client = createClient({ store: pipeline.store, queues, project: 'full' })
      close = () => queues.close()
    })
    afterAll(async () => {
      await close()
      await pipeline?.close()
    })

    const waitingJobs = async () => (await pipeline.queues.stats()).find(({ stage }) => stage === 'ingest')?.waiting
    const messages = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ role: 'user' as const, content: `message ${index}` }))

    test('is refused before anything is sent if it requests that; otherwise it waits and its messages are stored', async () => {
      const queued = (count: number) =>
        client.messages.append({ agent: 'a', thread: 'queued', messages: messages(count), ack: 'queued' })
      // Five jobs of a hundred messages.
      await queued(JOBS_MAX * 100)
      expect(await waitingJobs()).toBe(JOBS_MAX)
      await expect(queued(1)).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfter: expect.any(Number) })
      const failing = client.messages.append({ agent: 'a', thread: 'f', messages: messages(300), onBusy: 'fail' })
      await expect(failing).rejects.toMatchObject({ code: 'RATE_LIMITED', disposition: 'retry' })
      const short = client.messages.append({ agent: 'a', thread: 's', messages: messages(1), deadlineMs: 1_500 })
      await expect(short).rejects.toMatchObject({ code: 'RATE_LIMITED' })

      const patient = client.messages.append({ agent: 'a', thread: 'patient', messages: messages(250) })
      const patientlyQueued = client.messages.append({
        agent: 'a',
        thread: 'patient too',
        messages: messages(1),
        ack: 'queued',
        onBusy: 'wait',
      })
      expect(await waitingJobs()).toBe(JOBS_MAX)
      await pipeline.start(['ingest'])
      expect((await patient).stored).toBe(250)
      expect((await patientlyQueued).stored).toBe(1)
      await waitFor(async () => {
        const { items } = await client.threads.list()
        return items.find(({ name }) => name === 'patient too')?.messages === 1
      })
      const { items } = await client.threads.list()
      expect(items.map(({ name }) => name).sort()).toEqual(['patient', 'patient too', 'queued'])
    })
  })

  describe.skipIf(skip)('whose store is down', () => {
    test('still gets its messages queued, and stored when the store is back', async () => {
      const pipeline = await openPipeline(mode)
      const proxy = await proxyTo(pipeline.databaseUrl)
      const store = openStore({ url: proxy.url })
      try {
        await proxy.stop()
        const client = createClient({ store, queues: pipeline.queues, project: 'away', log })
        const message = { id: '018f0000-0000-7000-8000-00000000000a', role: 'user' as const, content: 'hello' }
        const queued = await client.messages.append({ agent: 'a', thread: 't', messages: [message], ack: 'queued' })
        expect(queued).toMatchObject({ stored: 1, repeated: 0 })
        const stored = client.messages.append({ agent: 'a', thread: 't', messages: [message], deadlineMs: 60_000 })
        const impatient = client.messages.append({ agent: 'a', thread: 't', messages: [message], deadlineMs: 300 })
        await expect(impatient).rejects.toMatchObject({ disposition: 'retry' })
        await pipeline.start(['ingest'])
        await proxy.start()
        const { stored: added, repeated } = await stored
        expect(added + repeated).toBe(1)
        const overview = await client.threads.get('t')
        expect(overview).toMatchObject({ imported: 1 })
        // The project has its name after all.
        const [row] = await pipeline.store.inProject(
          projectIdOf('away'),
          (tx) => tx<{ name: string }[]>`select name from heddle.projects`,
        )
        expect(row?.name).toBe('away')
      } finally {
        await proxy.stop()
        await store.close()
        await pipeline.close()
      }
    })
  })
})
