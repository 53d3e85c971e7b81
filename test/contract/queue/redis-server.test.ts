import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PermanentError } from '@heddle/contracts'
import { done, openQueues, startReconciler } from '@heddle/queue'
import { systemClock } from '@heddle/runtime'
import { freshPrefix, redisUrl } from '@heddle/test-support'
import { freePort, startRedisServer } from '@heddle/test-support/redis-server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { log, queuesAt, someThread, startWorker } from './support.js'

/** A Redis of the test's own, which forgets everything when it ends. */
async function ownRedis(settings: Record<string, string> = {}) {
  const [folder, port] = [await mkdtemp(join(tmpdir(), 'heddle-test-redis-')), await freePort()]
  const open = () => startRedisServer({ folder, port, settings })
  let server = await open()
  onTestFinished(async () => {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  })
  return {
    url: server.url,
    kill: () => server.kill(),
    async start() {
      server = await open()
    },
  }
}

describe.skipIf(redisUrl() === null)('a Redis server', () => {
  it('may be killed and come back empty: workers go on, and the reconciler brings back what was lost', async () => {
    const redis = await ownRedis()
    const place = { backend: { kind: 'redis' as const, url: redis.url }, prefix: freshPrefix() }
    const queues = await queuesAt(place)
    const worker = await startWorker({ stage: 'prune', queues, handler: async () => done() })
    const [first, lost] = [someThread(), someThread()]
    await queues.wake('prune', first)
    await worker.whenSettled(1)
    await queues.pause('prune')
    await queues.wake('prune', lost)
    await redis.kill()
    await redis.start()
    const reconciler = startReconciler({
      queues,
      everyMs: 200,
      takeTurn: async () => null,
      findWork: async () => (worker.settled.length === 1 ? [{ stage: 'prune', ...lost }] : []),
      findRequests: async () => [],
      tellUntold: async () => 0,
      log,
      clock: systemClock,
    })
    onTestFinished(() => reconciler.close())
    expect((await worker.whenSettled(2)).map(({ result }) => result)).toEqual(['done', 'done'])
  })

  it.each([
    ['none', ''],
    ['another', ':wrong@'],
  ])('that asks for a password refuses who has %s, at once', async (_title, credentials) => {
    const redis = await ownRedis({ requirepass: 'secret' })
    const url = redis.url.replace('//', `//${credentials}`)
    const opening = openQueues({ backend: { kind: 'redis', url }, prefix: freshPrefix(), log, create: true })
    await expect(opening).rejects.toBeInstanceOf(PermanentError)
    await expect(opening).rejects.toMatchObject({ code: 'UNAUTHORIZED', hint: expect.stringContaining('REDIS_URL') })
  })

  it('that evicts keys is reported', async () => {
    const redis = await ownRedis({ 'maxmemory-policy': 'allkeys-lru', appendonly: 'yes' })
    const queues = await queuesAt({ backend: { kind: 'redis', url: redis.url }, prefix: freshPrefix() })
    expect((await queues.ping()).warnings).toEqual([
      { what: expect.stringContaining('allkeys-lru'), hint: expect.stringContaining('noeviction') },
    ])
  })

  it('that keeps no log of its writes is reported, with what to do', async () => {
    const redis = await ownRedis({ appendonly: 'no' })
    const queues = await queuesAt({ backend: { kind: 'redis', url: redis.url }, prefix: freshPrefix() })
    expect((await queues.ping()).warnings).toEqual([
      { what: expect.stringContaining('appendonly is no'), hint: expect.stringContaining('config set appendonly yes') },
    ])
  })

  it('that is full is told to producers as unavailable', async () => {
    const redis = await ownRedis({ maxmemory: '1', 'maxmemory-policy': 'noeviction' })
    const queues = await queuesAt({ backend: { kind: 'redis', url: redis.url }, prefix: freshPrefix() })
    await expect(queues.wake('prune', someThread())).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })
})
