import { randomUUID } from 'node:crypto'
import type { AssembleJob } from '@heddle/contracts'
import { done, type Queues, type StageWake, startReconciler } from '@heddle/queue'
import { type Clock, systemClock } from '@heddle/runtime'
import { backends } from '@heddle/test-support'
import { describe, expect, it, onTestFinished } from 'vitest'
import { emptyQueues, freshPlace, gate, log, queuesAt, someThread, startWorker, strayKey } from './support.js'

function reconcilerFor(queues: Queues, work: StageWake[], contexts: AssembleJob[] = [], clock: Clock = systemClock) {
  const reconciler = startReconciler({
    queues,
    everyMs: 60_000,
    acquireLease: async () => 0,
    findWork: async () => work,
    findRequests: async () => contexts,
    publishMissed: async () => 0,
    log,
    clock,
  })
  onTestFinished(() => reconciler.close())
  return reconciler
}

describe.each(backends())('the reconciler on $title', ({ skip, open }) => {
  describe.skipIf(skip)('brings back', () => {
    it('all pending work after the queues were emptied', async () => {
      const place = await freshPlace(open)
      const queues = await queuesAt(place)
      const [lagging, requested] = [someThread(), { projectId: randomUUID(), contextId: randomUUID() }]
      await queues.pause('prune')
      await queues.wake('prune', lagging)
      await queues.add('assemble', requested)
      await emptyQueues(place)
      expect((await queues.stats()).map(({ waiting }) => waiting)).toEqual([0, 0, 0, 0, 0, 0])
      const prune = await startWorker({ stage: 'prune', queues, handler: async () => done() })
      const assemble = await startWorker({ stage: 'assemble', queues, handler: async () => done() })
      const reconciler = reconcilerFor(queues, [{ stage: 'prune', ...lagging }], [requested])
      expect(await reconciler.runOnce()).toMatchObject({ woken: 1, requested: 1, published: 0, isWhole: true })
      await Promise.all([prune.whenSettled(1), assemble.whenSettled(1)])
    })

    it('a thread whose wake-ups are blocked by the deduplication key of a removed job', async () => {
      const place = await freshPlace(open)
      const queues = await queuesAt(place)
      const thread = someThread()
      await strayKey(place, 'prune', thread.threadId)
      const worker = await startWorker({ stage: 'prune', queues, handler: async () => done() })
      await reconcilerFor(queues, [{ stage: 'prune', ...thread }]).runOnce()
      expect(await worker.whenSettled(1)).toMatchObject([{ result: 'done' }])
    })

    it('each of many threads by the state of its job: lost, active, waiting or absent', async () => {
      const place = await freshPlace(open)
      const queues = await queuesAt(place)
      const [lost, underWay, waiting, free] = [someThread(), someThread(), someThread(), someThread()]
      await strayKey(place, 'prune', lost.threadId)
      const [begun, end] = [gate(), gate()]
      const seen: string[] = []
      const worker = await startWorker({
        stage: 'prune',
        queues,
        concurrency: 1,
        handler: async ({ payload }) => {
          seen.push(payload.threadId)
          begun.open()
          await end.promise
          return done()
        },
      })
      await queues.wake('prune', underWay)
      await begun.promise
      await queues.wake('prune', waiting)
      const work = [lost, underWay, waiting, free].map((thread) => ({ stage: 'prune' as const, ...thread }))
      const reconciler = reconcilerFor(queues, [...work, { stage: 'embed', ...free }])
      expect(await reconciler.runOnce()).toMatchObject({ woken: 4, isWhole: true })
      const [prune, embed] = await Promise.all(
        (['prune', 'embed'] as const).map(async (stage) => (await queues.stats()).find((each) => each.stage === stage)),
      )
      expect([prune?.waiting, embed?.waiting]).toEqual([3, 1])
      end.open()
      await worker.whenSettled(5)
      const ids = (threads: readonly { threadId: string }[]) => threads.map(({ threadId }) => threadId).toSorted()
      expect(seen.toSorted()).toEqual(ids([underWay, underWay, waiting, lost, free]))
    })

    it('nothing twice: a job that is already queued stays one job', async () => {
      const place = await freshPlace(open)
      const queues = await queuesAt(place)
      const [thread, requested] = [someThread(), { projectId: randomUUID(), contextId: randomUUID() }]
      await queues.wake('embed', thread)
      const reconciler = reconcilerFor(queues, [{ stage: 'embed', ...thread }], [requested])
      await reconciler.runOnce()
      await reconciler.runOnce()
      expect((await queues.stats()).map(({ waiting }) => waiting)).toEqual([0, 0, 0, 1, 0, 1])
    })
  })

  describe.skipIf(skip)('as a timer', () => {
    it('runs one pass at a time, survives failures, and stops', async () => {
      const queues = await queuesAt(await freshPlace(open))
      const ticks: (() => void)[] = []
      const clock: Clock = {
        nowMs: () => 0,
        monotonicMs: () => 0,
        wait: (_ms, signal) =>
          new Promise((resolve, reject) => {
            ticks.push(resolve)
            signal?.addEventListener('abort', () => reject(signal.reason))
          }),
        after: () => () => {},
      }
      const looks = [gate(), gate(), gate()]
      const finish = gate()
      let count = 0
      const reconciler = startReconciler({
        queues,
        everyMs: 1_000,
        acquireLease: async () => null,
        findWork: async () => {
          looks[count++]?.open()
          if (count === 1) throw new Error('the store is away')
          if (count === 2) await finish.promise
          return []
        },
        findRequests: async () => [],
        publishMissed: async () => {
          if (count === 1) throw new Error('the store is away')
          return 7
        },
        log,
        clock,
      })
      ticks.shift()?.()
      await looks[0]?.promise
      while (ticks.length === 0) await new Promise((resolve) => setImmediate(resolve))
      ticks.shift()?.()
      await looks[1]?.promise
      const joined = reconciler.runOnce()
      finish.open()
      expect(await joined).toMatchObject({ woken: 0, requested: 0, published: 7 })
      expect(count).toBe(2)
      await reconciler.close()
      expect(count).toBe(2)
    })
  })
})
