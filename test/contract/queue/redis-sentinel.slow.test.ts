import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { done } from '@heddle/queue'
import { freshPrefix, redisUrl, waitFor } from '@heddle/test-support'
import { askRedis } from '@heddle/test-support/servers/queue-server'
import { freePort, startRedisServer } from '@heddle/test-support/servers/redis-server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { queuesAt, someThread, startWorker } from './support.js'

/** A primary with a replica, and a sentinel that replaces it. */
async function openSentinel() {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-test-sentinel-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const open = async (name: string, settings: Record<string, string>) => {
    const [own, port] = [join(folder, name), await freePort()]
    await mkdir(own)
    const server = await startRedisServer({ folder: own, port, settings })
    onTestFinished(() => server.stop())
    return { ...server, port }
  }
  const primary = await open('primary', {})
  const replica = await open('replica', { 'repl-diskless-sync-delay': '0' })
  await askRedis(replica.url, ['REPLICAOF', '127.0.0.1', String(primary.port)])
  await waitFor(async () => (await askRedis(primary.url, ['INFO', 'replication'])).includes('state=online'))
  const sentinelPort = await freePort()
  const file = join(folder, 'sentinel.conf')
  const settings = [
    `port ${sentinelPort}`,
    'bind 127.0.0.1',
    `sentinel monitor heddle 127.0.0.1 ${primary.port} 1`,
    'sentinel down-after-milliseconds heddle 500',
    // Sentinel gives up a failover that took longer and starts the next one after twice this time.
    'sentinel failover-timeout heddle 10000',
  ]
  await writeFile(file, settings.join('\n'))
  const sentinel = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' })
  onTestFinished(async () => {
    const exited = once(sentinel, 'exit')
    if (sentinel.kill()) await exited
  })
  const sentinelUrl = `redis://127.0.0.1:${sentinelPort}`
  const seesReplica = async () => (await askRedis(sentinelUrl, ['SENTINEL', 'replicas', 'heddle'])).includes('ip')
  await waitFor(seesReplica, { what: 'the sentinel to know the replica', timeoutMs: 30_000 })
  return {
    // The first of them is away.
    url: `redis+sentinel://127.0.0.1:1,127.0.0.1:${sentinelPort}/heddle`,
    whenNamesReplica: async () => {
      const address = () => askRedis(sentinelUrl, ['SENTINEL', 'get-master-addr-by-name', 'heddle'])
      const what = 'the sentinel to name the replica as the primary'
      await waitFor(async () => (await address()).includes(String(replica.port)), { what, timeoutMs: 45_000 })
    },
    primary,
    replica,
  }
}

describe.skipIf(redisUrl() === null)('a Redis whose primary is named by sentinels', () => {
  it('continues on the replica that replaces a killed primary: workers, producers and messages', async () => {
    const { url, primary, whenNamesReplica } = await openSentinel()
    const place = { backend: { kind: 'redis' as const, url }, prefix: freshPrefix() }
    const queues = await queuesAt(place)
    const worker = await startWorker({ stage: 'prune', queues, handler: async () => done() })
    await queues.wake('prune', someThread())
    await worker.whenSettled(1)
    await primary.kill()
    await whenNamesReplica()
    await waitFor(() => queues.wake('prune', someThread()).then(() => true), {
      what: 'a wake on the new primary',
      timeoutMs: 15_000,
      everyMs: 100,
    })
    expect((await worker.whenSettled(2)).map(({ result }) => result)).toEqual(['done', 'done'])
  }, 120_000)

  it('leaves a primary that was demoted to a replica while it stayed connected', async () => {
    const { url, primary, replica } = await openSentinel()
    const queues = await queuesAt({ backend: { kind: 'redis', url }, prefix: freshPrefix() })
    const worker = await startWorker({ stage: 'prune', queues, handler: async () => done() })
    const sentinelUrl = `redis://${url.split(',')[1]?.split('/')[0]}`
    await waitFor(async () => (await askRedis(sentinelUrl, ['SENTINEL', 'failover', 'heddle'])).startsWith('+OK'))
    await waitFor(async () => (await askRedis(replica.url, ['ROLE'])).includes('master'), { timeoutMs: 30_000 })
    await waitFor(async () => (await askRedis(primary.url, ['ROLE'])).includes('slave'), { timeoutMs: 30_000 })
    await waitFor(() => queues.wake('prune', someThread()).then(() => true), { timeoutMs: 15_000, everyMs: 100 })
    expect((await worker.whenSettled(1)).map(({ result }) => result)).toEqual(['done'])
  }, 120_000)
})

it('an address that names no sentinels is refused by its field', async () => {
  const opening = queuesAt({ backend: { kind: 'redis', url: 'redis+sentinel://one' }, prefix: freshPrefix() })
  await expect(opening).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'REDIS_URL' })
})
