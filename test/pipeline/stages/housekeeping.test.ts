import { threadIdOf } from '@heddle/core'
import { type Clock, systemClock } from '@heddle/runtime'
import { beginErasure, loadErasure, loadThread } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { onPostgres } from '@heddle/test-support/servers/queue-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPipeline, type Pipeline, queueBackends } from '../support.js'

const DAY_MS = 86_400_000

/** A clock that a test sets forward, with short waits. */
class TestClock implements Clock {
  aheadMs = 0
  nowMs = () => systemClock.nowMs() + this.aheadMs
  monotonicMs = () => systemClock.monotonicMs() + this.aheadMs
  after = systemClock.after
  wait = (_ms: number, signal?: AbortSignal) => systemClock.wait(20, signal)
}

describe.each(queueBackends())('workers on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('run housekeeping:', () => {
    let pipeline: Pipeline
    beforeAll(async () => {
      pipeline = await openPipeline(mode)
    })
    afterAll(() => pipeline?.close())

    const append = (thread: string) =>
      pipeline.client.messages.append({ agent: 'a', thread, messages: [{ role: 'user', content: 'hello' }] })

    test('an erasure whose process died is completed, with the jobs that were in the queue', async () => {
      const stages = await pipeline.start()
      await append('gone')
      await stages.stop()
      const { projectId, store, queues } = pipeline
      const targetId = threadIdOf(projectId, 'gone')
      const target = { projectId, kind: 'thread', targetId } as const
      await pipeline.client.messages.append({
        agent: 'a',
        thread: 'gone',
        messages: [{ role: 'user', content: 'late' }],
        ack: 'queued',
      })
      await store.inProject(projectId, (tx) => beginErasure(tx, target))
      const clock = new TestClock()
      clock.aheadMs = 60_000
      const others = await pipeline.start(['assemble'], { clock, reconcile: { everyMs: 20, patienceMs: 10_000 } })
      await waitFor(async () => (await store.inProject(projectId, (tx) => loadErasure(tx, target)))?.finishedAtMs, {
        what: 'the erasure to be finished',
      })
      await others.stop()
      expect((await queues.stats())[0]).toMatchObject({ stage: 'ingest', waiting: 0 })
      expect(await store.inProject(projectId, (tx) => loadThread(tx, { threadId: targetId }))).toBeNull()
    })

    test('contexts are removed after their retention, messages stay', async () => {
      const stages = await pipeline.start()
      await append('kept')
      await pipeline.client.threads.waitUntilSettled('kept')
      const { id } = await pipeline.client.contexts.build({ thread: 'kept' })
      await stages.stop()
      const project = pipeline.projectId
      const age = (days: number) =>
        onPostgres(
          pipeline.databaseUrl,
          `update heddle.events set created_at = created_at - interval '${days} days';
           update heddle.contexts set requested_at = requested_at - interval '${days} days'`,
        )
      // A machine whose clock has jumped a year ahead: housekeeping goes by the earlier clock, so nothing is due by it.
      const clock = new TestClock()
      clock.aheadMs = 366 * DAY_MS
      const workers = await pipeline.start(['prune'], { clock, reconcile: { everyMs: 20, patienceMs: 10_000 } })
      const events = () => pipeline.store.inProject(project, (tx) => tx`select from heddle.events limit 1`)
      expect((await events()).length).toBe(1)
      await age(29)
      await waitFor(async () => (await events()).length === 0, { what: 'events of 29 days ago to go' })
      expect((await pipeline.client.contexts.get(id)).id).toBe(id)
      await age(2)
      await waitFor(
        () =>
          pipeline.client.contexts.get(id).then(
            () => false,
            () => true,
          ),
        { what: 'the context to go' },
      )
      await workers.stop()
      expect((await pipeline.client.threads.get('kept')).messages).toBe(1)
    })
  })
})
