import { done, openQueues } from '@heddle/queue'
import { backends, freshPrefix } from '@heddle/test-support'
import postgres from 'postgres'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freshPlace, log, queuesAt, someThread, startWorker } from './support.js'

describe.each(backends())('the queues of a prefix on $title', ({ skip, open }) => {
  it.skipIf(skip)(
    'are refused to a client that only sends, at once and with the name of the prefix, until a worker was seen there',
    async () => {
      const place = { ...(await freshPlace(open)), prefix: freshPrefix() }
      const [served, wrong] = [place.prefix, `${place.prefix}x`]
      await queuesAt({ ...place, prefix: served })
      const startedMs = performance.now()
      const opening = openQueues({ ...place, prefix: wrong, log })
      await expect(opening).rejects.toMatchObject({
        code: 'NOT_FOUND',
        field: 'prefix',
        received: wrong,
        message: expect.stringMatching(/^prefix: no worker has ever served .* existing prefixes: heddle/),
        hint: expect.stringContaining('HEDDLE_QUEUE_PREFIX'),
      })
      expect(performance.now() - startedMs).toBeLessThan(3_000)
      // Neither attempt has created it.
      await expect(openQueues({ ...place, prefix: wrong, log })).rejects.toMatchObject({ code: 'NOT_FOUND' })
      if (place.backend.kind === 'postgres') expect(await schemasOf(place.backend.url)).not.toContain(`${wrong}_queue`)

      const sender = await openQueues({ ...place, prefix: served, log })
      onTestFinished(() => sender.close({ timeoutMs: 0 }))
      const worker = await startWorker({
        stage: 'prune',
        queues: await queuesAt({ ...place, prefix: served }),
        handler: async () => done(),
      })
      await sender.wake('prune', someThread())
      expect(await worker.whenSettled(1)).toHaveLength(1)
    },
  )

  it.skipIf(skip)(
    'report to a waiting caller that no worker is there, instead of that the request is being processed',
    async () => {
      const place = await freshPlace(open)
      const queues = await queuesAt(place)
      const waiting = queues.expectReply({ requestId: 'nobody', deadlineMs: 3_000, read: async () => undefined })
      await expect(waiting.result).rejects.toMatchObject({
        code: 'TIMEOUT',
        hint: expect.stringContaining('No worker reports'),
      })
    },
  )
})

async function schemasOf(url: string): Promise<string[]> {
  const sql = postgres(url, { max: 1 })
  try {
    const rows = await sql<{ nspname: string }[]>`SELECT nspname FROM pg_namespace`
    return rows.map(({ nspname }) => nspname)
  } finally {
    await sql.end()
  }
}
