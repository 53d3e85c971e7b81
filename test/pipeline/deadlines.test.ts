import { createClient } from '@heddle/client'
import { openStore } from '@heddle/store'
import { openTcpProxy } from '@heddle/test-support/tcp-proxy'
import { expect, onTestFinished, test } from 'vitest'
import { openPipeline } from './support.js'

/** Far less than the store takes to give up a server that does not answer. */
const SOON_MS = 5_000

test('who awaits a context hears by the deadline, also while Postgres takes connections and never answers', async () => {
  const pipeline = await openPipeline('postgres')
  onTestFinished(() => pipeline.close())
  const proxy = await openTcpProxy(pipeline.databaseUrl)
  onTestFinished(() => proxy.stop())
  const store = openStore({ url: proxy.url })
  onTestFinished(() => store.close())
  const client = createClient({ store, queues: pipeline.queues })
  proxy.silence()
  const startedMs = performance.now()
  await expect(client.contexts.build({ thread: 'any' }, { deadlineMs: 500 })).rejects.toMatchObject({ code: 'TIMEOUT' })
  expect(performance.now() - startedMs).toBeLessThan(SOON_MS)
})
