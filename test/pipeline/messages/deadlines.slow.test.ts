import { RetryableError } from '@heddle/contracts'
import { createClient } from '@heddle/engine'
import { openStore } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { openTcpProxy } from '@heddle/test-support/servers/tcp-proxy'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openPipeline, type Pipeline, queueBackends } from '../support.js'

/** Far less than the time after which the store gives up on a silent server. */
const SOON_MS = 5_000

describe.each(queueBackends())('$title', ({ mode, skip }) => {
  test.skipIf(skip)(
    'a caller that waits for a context gets an answer by the deadline, also when Postgres accepts connections and never answers',
    async () => {
      const pipeline = await openPipeline(mode)
      onTestFinished(() => pipeline.close())
      const proxy = await openTcpProxy(pipeline.databaseUrl)
      onTestFinished(() => proxy.stop())
      const store = openStore({ url: proxy.url })
      onTestFinished(() => store.close())
      const client = createClient({ store, queues: pipeline.queues })
      proxy.silence()
      const startedMs = performance.now()
      await expect(client.contexts.build({ thread: 'any' }, { deadlineMs: 500 })).rejects.toMatchObject({
        code: 'TIMEOUT',
      })
      expect(performance.now() - startedMs).toBeLessThan(SOON_MS)
    },
  )

  test.skipIf(skip)('a caller that waits for a context learns at once that its thread was erased', async () => {
    const pipeline = await openPipeline(mode)
    onTestFinished(() => pipeline.close())
    const { client } = pipeline
    await client.threads.put('going', { agent: 'coder' })
    const startedMs = performance.now()
    const building = client.contexts.build({ thread: 'going' }, { deadlineMs: 60_000 })
    building.catch(() => {})
    await waitFor(async () => (await contextsOf(pipeline)) === 1)
    await client.threads.delete('going')
    await expect(building).rejects.toMatchObject({ code: 'NOT_FOUND', message: expect.stringContaining('going') })
    expect(performance.now() - startedMs).toBeLessThan(30_000)
  })

  test.skipIf(skip)('a context is built once a restarted server serves its workers again', async () => {
    const pipeline = await openPipeline(mode)
    onTestFinished(() => pipeline.close())
    const { client } = pipeline
    const filling = await pipeline.start(['ingest'])
    await client.messages.append({ agent: 'coder', thread: 'patient', messages: [{ role: 'user', content: 'Wait.' }] })
    await filling.stop()
    let failures = 5
    await pipeline.start(['assemble'], {
      store: {
        ...pipeline.store,
        inProject(projectId, work, options) {
          // Dead letters could be stored meanwhile.
          if (options?.snapshot !== true || failures-- <= 0) return pipeline.store.inProject(projectId, work, options)
          return Promise.reject(new RetryableError('SERVICE_UNAVAILABLE', 'Postgres is restarting'))
        },
      },
    })
    expect((await client.contexts.build({ thread: 'patient' }, { deadlineMs: 60_000 })).thread).toBe('patient')
    expect(await client.deadLetters.list()).toEqual([])
  })

  test.skipIf(skip)(
    'a context that was erased together with another thread that it showed is requested again',
    async () => {
      const pipeline = await openPipeline(mode)
      onTestFinished(() => pipeline.close())
      const { client } = pipeline
      await client.threads.put('asking', { agent: 'coder' })
      const building = client.contexts.build({ thread: 'asking', message: 'hello' }, { deadlineMs: 60_000 })
      building.catch(() => {})
      await waitFor(async () => (await contextsOf(pipeline)) === 1)
      await pipeline.store.inProject(pipeline.projectId, (tx) => tx`delete from heddle.contexts`)
      await waitFor(async () => (await contextsOf(pipeline)) === 1)
      await pipeline.start(['assemble'])
      expect((await building).thread).toBe('asking')
    },
  )
})

/** The number of stored contexts, with any status. */
function contextsOf({ store, projectId }: Pipeline): Promise<number> {
  return store.inProject(projectId, async (tx) => (await tx`select from heddle.contexts`).count)
}
