import { mkdir, mkdtemp, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PermanentError } from '@heddle/contracts'
import { done, openQueues, startReconciler } from '@heddle/queue'
import { systemClock } from '@heddle/runtime'
import { freshPrefix, redisUrl, waitFor } from '@heddle/test-support'
import { onRedis } from '@heddle/test-support/servers/queue-server'
import { freePort, startRedisServer } from '@heddle/test-support/servers/redis-server'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { capturingLog, infoOf, ingestJob, log, queuesAt, refusedByRedis, someThread, startWorker } from './support.js'

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
    folder,
    kill: () => server.kill(),
    async start() {
      server = await open()
    },
  }
}

describe.skipIf(redisUrl() === null)('a Redis server', () => {
  it('can be killed and come back empty: workers continue, and the reconciler restores the lost jobs', async () => {
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
      acquireLease: async () => null,
      findWork: async () => (worker.settled.length === 1 ? [{ stage: 'prune', ...lost }] : []),
      findRequests: async () => [],
      publishMissed: async () => 0,
      log,
      clock: systemClock,
    })
    onTestFinished(() => reconciler.close())
    expect((await worker.whenSettled(2)).map(({ result }) => result)).toEqual(['done', 'done'])
  })

  it.each([
    ['none', ''],
    ['another', ':wrong@'],
  ])('that requires a password refuses a client with %s, at once', async (_title, credentials) => {
    const redis = await ownRedis({ requirepass: 'secret' })
    const url = redis.url.replace('//', `//${credentials}`)
    const opening = openQueues({ backend: { kind: 'redis', url }, prefix: freshPrefix(), log, create: true })
    await expect(opening).rejects.toBeInstanceOf(PermanentError)
    await expect(opening).rejects.toMatchObject({ code: 'UNAUTHORIZED', hint: expect.stringContaining('REDIS_URL') })
  })

  it('that is full is named to producers after the last attempt, logged once by all workers, and used again once it has space', async () => {
    const redis = await ownRedis()
    const place = { backend: { kind: 'redis' as const, url: redis.url }, prefix: freshPrefix() }
    const { log, lines } = capturingLog()
    const queues = await queuesAt(place, log)
    const workers = await Promise.all(
      (['prune', 'summarize', 'embed'] as const).map((stage) =>
        startWorker({ stage, queues, log, handler: async () => done() }),
      ),
    )
    await onRedis(redis.url, ['CONFIG', 'SET', 'maxmemory', '1'])
    await expect(queues.add('ingest', ingestJob())).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining('Redis is full'),
      retryAfter: 1,
      hint: expect.stringContaining('maxmemory'),
    })
    await expect(queues.ping()).rejects.toMatchObject({
      message: expect.stringMatching(/Redis is full: .* MB used of 0\.0 MB/),
      facts: { usedBytes: expect.any(Number), maxBytes: 1 },
    })
    // Many attempts of three workers, one line.
    await waitFor(async () => (await refusedByRedis(redis.url)) > 10, { timeoutMs: 25_000, what: 'refused commands' })
    const full = () => lines().filter(({ error }) => /Redis is full/.test(error?.message ?? ''))
    expect(full()).toHaveLength(1)
    await onRedis(redis.url, ['CONFIG', 'SET', 'maxmemory', '0'])
    await waitFor(() => lines().some(({ msg }) => msg === 'the queues work again'), { what: 'the end of it' })
    await queues.wake('prune', someThread())
    await queues.wake('embed', someThread())
    await Promise.all([workers[0]?.whenSettled(1), workers[2]?.whenSettled(1)])
    expect(full()).toHaveLength(1)
  })

  it('that cannot save to its disk is named to producers, and used again when it can', async () => {
    const redis = await ownRedis({ save: '3600 1', dbfilename: 'dump.rdb' })
    const { log, lines } = capturingLog()
    const queues = await queuesAt({ backend: { kind: 'redis', url: redis.url }, prefix: freshPrefix() }, log)
    const worker = await startWorker({ stage: 'prune', queues, log, handler: async () => done() })
    const saved = async (status: string) => {
      await onRedis(redis.url, ['BGSAVE']).catch(() => {})
      const persistence = await infoOf(redis.url, 'persistence')
      return persistence.includes(`rdb_last_bgsave_status:${status}`)
    }
    // A file cannot replace a folder.
    await mkdir(join(redis.folder, 'dump.rdb'))
    await waitFor(() => saved('err'), { what: 'a save that failed' })
    await expect(queues.add('ingest', ingestJob())).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: 'Redis refuses writes because it cannot save to its disk',
      hint: expect.stringContaining('disk'),
    })
    await waitFor(() => lines().some(({ error }) => /cannot save/.test(error?.message ?? '')), { what: 'a line' })
    await rmdir(join(redis.folder, 'dump.rdb'))
    await waitFor(() => saved('ok'), { what: 'a save' })
    await waitFor(() => lines().some(({ msg }) => msg === 'the queues work again'), { what: 'the end of it' })
    await queues.wake('prune', someThread())
    await worker.whenSettled(1)
  })

  it('that evicts keys is reported in one line of the log, and not on the console', async () => {
    const redis = await ownRedis({ 'maxmemory-policy': 'allkeys-lru', appendonly: 'yes' })
    const console = vi.spyOn(globalThis.console, 'warn').mockImplementation(() => {})
    onTestFinished(() => console.mockRestore())
    const { log, lines } = capturingLog()
    const queues = await queuesAt({ backend: { kind: 'redis', url: redis.url }, prefix: freshPrefix() }, log)
    const worker = await startWorker({ stage: 'prune', queues, log, handler: async () => done() })
    await startWorker({ stage: 'embed', queues, log, handler: async () => done() })
    await queues.wake('prune', someThread())
    await worker.whenSettled(1)
    expect(console).not.toHaveBeenCalled()
    expect(lines().filter(({ msg }) => /allkeys-lru/.test(msg))).toMatchObject([
      { level: 40, hint: expect.stringContaining('noeviction') },
    ])
  })

  it('with nearly full memory is reported with its figures', async () => {
    const redis = await ownRedis({ appendonly: 'yes', maxmemory: '100mb' })
    const queues = await queuesAt({ backend: { kind: 'redis', url: redis.url }, prefix: freshPrefix() })
    expect((await queues.ping()).warnings).toEqual([])
    const memory = Number(/^used_memory:(\d+)/m.exec(await infoOf(redis.url, 'memory'))?.[1])
    await onRedis(redis.url, ['CONFIG', 'SET', 'maxmemory', String(Math.round(memory * 1.08))])
    expect((await queues.ping()).warnings).toEqual([
      { what: expect.stringContaining('nearly full'), hint: expect.stringContaining('Raise maxmemory') },
    ])
  })

  it('that is a replica is named', async () => {
    const redis = await ownRedis({ appendonly: 'yes' })
    const queues = await queuesAt({ backend: { kind: 'redis', url: redis.url }, prefix: freshPrefix() })
    await onRedis(redis.url, ['REPLICAOF', '127.0.0.1', '1'])
    await expect(queues.ping()).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining('replica'),
      hint: expect.stringContaining('REDIS_URL'),
    })
    await onRedis(redis.url, ['REPLICAOF', 'NO', 'ONE'])
    expect((await queues.ping()).server).toBe('Redis')
  })

  it('that evicts keys is reported', async () => {
    const redis = await ownRedis({ 'maxmemory-policy': 'allkeys-lru', appendonly: 'yes' })
    const queues = await queuesAt({ backend: { kind: 'redis', url: redis.url }, prefix: freshPrefix() })
    expect((await queues.ping()).warnings).toEqual([
      { what: expect.stringContaining('allkeys-lru'), hint: expect.stringContaining('noeviction') },
    ])
  })

  it('without an append-only file is reported, with what to do', async () => {
    const redis = await ownRedis({ appendonly: 'no' })
    const queues = await queuesAt({ backend: { kind: 'redis', url: redis.url }, prefix: freshPrefix() })
    expect((await queues.ping()).warnings).toEqual([
      { what: expect.stringContaining('appendonly is no'), hint: expect.stringContaining('config set appendonly yes') },
    ])
  })

  it('that is full is reported to producers as unavailable', async () => {
    const redis = await ownRedis({ maxmemory: '1', 'maxmemory-policy': 'noeviction' })
    const queues = await queuesAt({ backend: { kind: 'redis', url: redis.url }, prefix: freshPrefix() })
    await expect(queues.wake('prune', someThread())).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })
})
