import { RetryableError, type StageName } from '@heddle/contracts'
import { done, type Queues, type StageBacklog } from '@heddle/queue'
import { backends, waitFor } from '@heddle/test-support'
import { onPostgres, onRedis, queueSchema } from '@heddle/test-support/servers/queue-server'
import { describe, expect, it } from 'vitest'
import { freshPlace, ingestJob, type QueuePlace, queuesAt, startWorker } from './support.js'

describe.each(backends())('the backlog of a stage on $title', ({ skip, open }) => {
  describe.skipIf(skip)('is', () => {
    it('empty for a stage without jobs, and every stage is listed', async () => {
      const queues = await queuesAt(await freshPlace(open))
      const backlogs = await queues.backlogs()
      expect(backlogs.map(({ stage }) => stage)).toEqual((await queues.stats()).map(({ stage }) => stage))
      expect(await backlogOf(queues, 'ingest')).toEqual({
        stage: 'ingest',
        waiting: 0,
        prioritized: 0,
        due: 0,
        paused: false,
        oldestWaitMs: null,
      })
    })

    it('the same in every process, also for a paused stage, whose jobs still wait', async () => {
      const place = await freshPlace(open)
      const queues = await queuesAt(place)
      await queues.addMany('ingest', [ingestJob(), ingestJob()])
      await queues.pause('ingest')
      await queues.add('ingest', ingestJob())
      for (const each of [queues, await queuesAt(place)])
        expect(await backlogOf(each, 'ingest')).toMatchObject({ waiting: 3, prioritized: 0, due: 0, paused: true })
      expect((await backlogOf(queues, 'ingest')).oldestWaitMs).toBeGreaterThanOrEqual(0)
    })

    it('counts jobs with a priority, and the age of the oldest one of every priority', async () => {
      const place = await freshPlace(open)
      const queues = await queuesAt(place)
      await queues.add('ingest', ingestJob())
      await makePrioritized(place, 'ingest', { priority: 7, ageMs: 90_000 })
      await queues.add('ingest', ingestJob())
      await makePrioritized(place, 'ingest', { priority: 2, ageMs: 20_000 })
      await queues.add('ingest', ingestJob())
      const backlog = await backlogOf(queues, 'ingest')
      expect(backlog).toMatchObject({ waiting: 3, prioritized: 2, due: 0 })
      expect(backlog.oldestWaitMs).toBeGreaterThanOrEqual(90_000)
      expect(backlog.oldestWaitMs).toBeLessThan(120_000)
      expect((await queues.stats())[0]).toMatchObject({ waiting: 3, prioritized: 2 })
    })

    it('counts a delayed job from the end of its delay on, and its age from there', async () => {
      const place = await freshPlace(open)
      const queues = await queuesAt(place)
      const worker = await startWorker({
        stage: 'ingest',
        queues,
        handler: async () => {
          throw new RetryableError('TIMEOUT', 'slow', { retryAfter: 900 })
        },
      })
      await queues.add('ingest', ingestJob())
      await waitFor(async () => (await queues.stats())[0]?.delayed === 1)
      await worker.handle.close()
      expect(await backlogOf(queues, 'ingest')).toMatchObject({ waiting: 0, due: 0, oldestWaitMs: null })
      await endDelays(place, 'ingest', { agoMs: 40_000 })
      const due = await backlogOf(queues, 'ingest')
      expect(due).toMatchObject({ waiting: 0, due: 1 })
      expect(due.oldestWaitMs).toBeGreaterThanOrEqual(40_000)
      expect(due.oldestWaitMs).toBeLessThan(70_000)
      expect((await queues.stats())[0]).toMatchObject({ delayed: 1, due: 1, oldestWaitMs: expect.any(Number) })
    })

    it('a retried job no older than its wait since the delay, though it was added long ago', async () => {
      const place = await freshPlace(open)
      const queues = await queuesAt(place)
      const first = await startWorker({
        stage: 'ingest',
        queues,
        handler: async () => {
          throw new RetryableError('TIMEOUT', 'slow', { retryAfter: 900 })
        },
      })
      await queues.add('ingest', ingestJob())
      await waitFor(async () => (await queues.stats())[0]?.delayed === 1)
      await first.handle.close()
      await age(place, 'ingest', 600_000)
      await endDelays(place, 'ingest', { agoMs: 5_000 })
      // The workers of a paused stage make due jobs fetchable, and fetch none.
      await queues.pause('ingest')
      const second = await startWorker({ stage: 'ingest', queues, handler: async () => done() })
      await waitFor(async () => (await backlogOf(queues, 'ingest')).waiting === 1)
      const { oldestWaitMs } = await backlogOf(queues, 'ingest')
      expect(oldestWaitMs).toBeGreaterThanOrEqual(5_000)
      expect(oldestWaitMs).toBeLessThan(60_000)
      await queues.resume('ingest')
      await second.whenSettled(1)
      expect(await backlogOf(queues, 'ingest')).toMatchObject({ waiting: 0, due: 0, oldestWaitMs: null })
    })
  })
})

async function backlogOf(queues: Queues, stage: StageName): Promise<StageBacklog> {
  const found = (await queues.backlogs()).find((each) => each.stage === stage)
  if (found === undefined) throw new Error(`no backlog of ${stage}`)
  return found
}

/** Gives the next waiting job of a stage a priority and an age, which Heddle's own jobs never have together. */
async function makePrioritized(
  { backend, prefix }: QueuePlace,
  stage: StageName,
  { priority, ageMs }: { priority: number; ageMs: number },
): Promise<void> {
  const addedAtMs = Date.now() - ageMs
  if (backend.kind === 'redis') {
    const script = `local key = ARGV[1]
      local id = redis.call('rpop', key .. 'wait')
      redis.call('zadd', key .. 'prioritized', string.format('%.0f', ARGV[2] * 0x100000000 + redis.call('incr', key .. 'pc')), id)
      redis.call('hset', key .. id, 'priority', ARGV[2], 'timestamp', ARGV[3]) return 'OK'`
    const key = `${prefix}:heddle-${stage}:`
    await onRedis(backend.url, ['EVAL', script, '0', key, String(priority), String(addedAtMs)])
  } else {
    await onPostgres(
      backend.url,
      `UPDATE "${queueSchema(prefix)}".job SET priority = ${priority}, added_at_ms = ${addedAtMs}
       WHERE queue = 'heddle-${stage}' AND priority = 0`,
    )
  }
}

/** Moves the end of every delay of a stage into the past. */
async function endDelays(
  { backend, prefix }: QueuePlace,
  stage: StageName,
  { agoMs }: { agoMs: number },
): Promise<void> {
  const dueMs = Date.now() - agoMs
  if (backend.kind === 'redis') {
    const script = `local key = ARGV[1] .. 'delayed'
      for _, id in ipairs(redis.call('zrange', key, 0, -1)) do
        redis.call('zadd', key, string.format('%.0f', ARGV[2] * 0x1000), id) end return 'OK'`
    await onRedis(backend.url, ['EVAL', script, '0', `${prefix}:heddle-${stage}:`, String(dueMs)])
  } else {
    await onPostgres(
      backend.url,
      `UPDATE "${queueSchema(prefix)}".job SET process_at_ms = ${dueMs} WHERE queue = 'heddle-${stage}' AND state = 'delayed'`,
    )
  }
}

/** Makes every job of a stage look as if it had been added longer ago. */
async function age({ backend, prefix }: QueuePlace, stage: StageName, ageMs: number): Promise<void> {
  const addedAtMs = Date.now() - ageMs
  if (backend.kind === 'redis') {
    const script = `for _, id in ipairs(redis.call('zrange', ARGV[1] .. 'delayed', 0, -1)) do
      redis.call('hset', ARGV[1] .. id, 'timestamp', ARGV[2]) end return 'OK'`
    await onRedis(backend.url, ['EVAL', script, '0', `${prefix}:heddle-${stage}:`, String(addedAtMs)])
  } else {
    await onPostgres(
      backend.url,
      `UPDATE "${queueSchema(prefix)}".job SET added_at_ms = ${addedAtMs} WHERE queue = 'heddle-${stage}'`,
    )
  }
}
