import { done } from '@heddle/queue'
import { backends } from '@heddle/test-support'
import { describe, expect, it } from 'vitest'
import { freshPlace, freshQueues, gate, queuesAt, someThread, startWorker } from './support.js'

describe.each(backends())('wake-ups on $title', ({ skip, open }) => {
  describe.skipIf(skip)('of one thread', () => {
    it('are merged while one waits, also across processes and in one batch', async () => {
      const place = await freshPlace(open)
      const [one, other] = [await queuesAt(place), await queuesAt(place)]
      const thread = someThread()
      await one.wakeMany('prune', [thread, thread])
      await Promise.all([one.wake('prune', thread), other.wake('prune', thread), other.wake('prune', someThread())])
      const waiting = (await one.stats()).find(({ stage }) => stage === 'prune')?.waiting
      expect(waiting).toBe(2)
    })

    it('are not lost while a job is active, and are handled after it, one at a time', async () => {
      const queues = await freshQueues(open)
      const thread = someThread()
      const started = gate()
      const finish = gate()
      let active = 0
      let activeMost = 0
      let calls = 0
      const worker = await startWorker({
        stage: 'prune',
        queues,
        concurrency: 8,
        handler: async () => {
          calls++
          active++
          activeMost = Math.max(activeMost, active)
          if (calls === 1) {
            started.open()
            await finish.promise
          }
          active--
          return done()
        },
      })
      await queues.wake('prune', thread)
      await started.promise
      for (let time = 0; time < 5; time++) await queues.wake('prune', thread)
      const prune = (await queues.stats()).find(({ stage }) => stage === 'prune')
      expect(prune).toMatchObject({ active: 1, waiting: 0 })
      finish.open()
      await worker.whenSettled(2)
      expect(calls).toBe(2)
      expect(activeMost).toBe(1)
      expect((await queues.stats()).find(({ stage }) => stage === 'prune')).toMatchObject({ active: 0, waiting: 0 })
    })

    it('find all messages that were stored before them, in any order of wake-ups and work', async () => {
      const queues = await freshQueues(open)
      const thread = someThread()
      let head = 0
      let cursor = 0
      let active = 0
      const caughtUp = gate()
      const total = 150
      const fail = gate<string>()
      await startWorker({
        stage: 'prune',
        queues,
        concurrency: 8,
        handler: async () => {
          if (++active > 1) fail.open('two jobs of one thread at once')
          const seen = head
          await new Promise((resolve) => setImmediate(resolve))
          cursor = Math.max(cursor, seen)
          active--
          if (cursor === total) caughtUp.open()
          return done()
        },
      })
      for (let step = 0; step < total; step++) {
        head++
        const waking = queues.wake('prune', thread)
        if (step % 7 === 0) await waking
        if (step % 3 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      expect(await Promise.race([caughtUp.promise.then(() => 'caught up'), fail.promise])).toBe('caught up')
    })

    it('are handled again after a job that failed permanently', async () => {
      const queues = await freshQueues(open)
      const thread = someThread()
      let calls = 0
      const worker = await startWorker({
        stage: 'prune',
        queues,
        attempts: 1,
        handler: async () => {
          if (++calls === 1) throw new Error('once')
          return done()
        },
      })
      await queues.wake('prune', thread)
      await worker.whenSettled(1)
      await queues.wake('prune', thread)
      expect((await worker.whenSettled(2)).map(({ result }) => result)).toEqual(['dead', 'done'])
    })
  })

  it.skipIf(skip)('of different threads are handled concurrently', async () => {
    const queues = await freshQueues(open)
    const both = gate()
    let active = 0
    const worker = await startWorker({
      stage: 'prune',
      queues,
      handler: async () => {
        if (++active === 2) both.open()
        await both.promise
        return done()
      },
    })
    await queues.wakeMany('prune', [someThread(), someThread()])
    expect(await worker.whenSettled(2)).toHaveLength(2)
  })
})
