import type { Redis } from 'ioredis'
import type { Backend, BullSetup, QueueFacts } from '../base/backend.js'
import { redisFull } from '../base/errors.js'
import { TextQueue } from '../send/text-queue.js'
import { addCauses } from './add-causes.js'
import { readBacklog } from './backlog.js'
import { batchingBackends, type Capabilities, capabilitiesOf } from './bull-backend.js'
import { createRedisChannels } from './channels.js'
import { connectRedis, createRedis } from './connect.js'
import { readDepth } from './depth.js'
import { readHolders } from './holders.js'
import { forgetServed, isServed, markServed, servedPrefixes } from './prefixes.js'
import { warningsOf } from './warnings.js'

/** Lifetime of the key that a probe writes. */
const PROBE_MS = 1_000

export interface RedisBackendOptions {
  url: string
  prefix: string
  create: boolean
  onError(error: unknown): void
}

/**
 * Redis: one connection for producers and publishing, one for subscriptions, one for the commands of all workers, and one
 * more for each worker, which blocks on it while it waits for jobs.
 */
export async function openRedisBackend({ url, prefix, create, onError }: RedisBackendOptions): Promise<Backend> {
  const producer = createRedis(url, 'producer', onError)
  const subscriber = createRedis(url, 'subscriber', onError)
  const opened: Redis[] = [producer, subscriber]
  let worker: Promise<Redis> | undefined
  try {
    await connectRedis(producer)
    await connectRedis(subscriber)
  } catch (error) {
    for (const redis of opened) redis.disconnect()
    throw error
  }
  // Hosted servers may refuse the command; they are not old.
  const info = await producer.info('server').catch(() => '')
  const capabilities = capabilitiesOf(fieldsOf(info)('redis_version') ?? '7.2.0')
  // A full Redis refuses the key; a later start sets it.
  if (create) await markServed(producer, prefix).catch(onError)
  const channels = createRedisChannels(producer, subscriber, onError)

  async function connectWorker(): Promise<Redis> {
    const redis = createRedis(url, 'worker', onError)
    await connectRedis(redis)
    opened.push(redis)
    return redis
  }

  return {
    server: 'Redis',
    channels,
    isKnown: () => isServed(producer, prefix),
    otherPrefixes: () => servedPrefixes(producer),
    producers: () => setup(producer, prefix, capabilities),
    async workers() {
      worker ??= connectWorker().catch((error: unknown) => {
        worker = undefined
        throw error
      })
      return setup(await worker, prefix, capabilities)
    },
    facts: () => readFacts(producer, prefix),
    probe: () => probe(producer, prefix),
    backlogs: (queues) => Promise.all(queues.map((queue) => readBacklog(producer, `${prefix}:${queue}`))),
    keyHolders: readHolders,
    addCauses: (queue, merged) => addCauses(producer, `${prefix}:${queue}:`, merged),
    depth: (queue) => readDepth(producer, `${prefix}:${queue}`),
    async close() {
      await channels.close()
      for (const redis of opened) redis.disconnect()
    },
    // Redis frees the memory of a job with the job.
    releaseSpace: async () => 0,
    async destroy() {
      await removeKeys(producer, prefix)
      await forgetServed(producer, prefix)
    },
  }
}

function setup(redis: Redis, prefix: string, capabilities: Capabilities): BullSetup {
  return { Queue: TextQueue, factory: batchingBackends(redis, prefix, capabilities), connection: redis }
}

/** A full server or a replica still answers reads: only a write shows whether it accepts writes. */
async function probe(redis: Redis, prefix: string): Promise<void> {
  try {
    await redis.set(`${prefix}:probe`, '1', 'PX', PROBE_MS)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('OOM')) throw error
    const field = fieldsOf(await redis.info('memory'))
    throw redisFull({ usedBytes: Number(field('used_memory')), maxBytes: Number(field('maxmemory')) }, error)
  }
}

function fieldsOf(info: string): (name: string) => string | undefined {
  return (name) => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim()
}

async function readFacts(redis: Redis, prefix: string): Promise<QueueFacts> {
  const startedMs = performance.now()
  await probe(redis, prefix)
  const latencyMs = performance.now() - startedMs
  const field = fieldsOf(await redis.info())
  return {
    server: 'Redis',
    version: field('redis_version') ?? 'unknown',
    latencyMs,
    connectionsPerProcess: null,
    connectionsMax: null,
    warnings: warningsOf(field),
  }
}

async function removeKeys(redis: Redis, prefix: string): Promise<void> {
  let cursor = '0'
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', `${prefix}:*`, 'COUNT', 1_000)
    if (keys.length > 0) await redis.unlink(...keys)
    cursor = next
  } while (cursor !== '0')
}
