import type { Redis } from 'ioredis'
import type { Backend, BullSetup, QueueFacts } from '../backend.js'
import { TextQueue } from '../text-queue.js'
import { turningBackends } from './bull-backend.js'
import { createRedisChannels } from './channels.js'
import { connectRedis, createRedis } from './connect.js'
import { readDepth } from './depth.js'
import { readHolders } from './holders.js'
import { forgetServed, isServed, markServed, servedPrefixes } from './prefixes.js'
import { warningsOf } from './warnings.js'

export interface RedisBackendOptions {
  url: string
  prefix: string
  create: boolean
  onError(error: unknown): void
}

/**
 * Redis: one connection for producers and publishing, one for subscriptions, one for what workers do, and one more for
 * each worker, which blocks in it while it waits for jobs.
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
  // A Redis that is full takes nothing, and works again when it is not.
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
    producers: () => setup(producer, prefix),
    async workers() {
      worker ??= connectWorker().catch((error: unknown) => {
        worker = undefined
        throw error
      })
      return setup(await worker, prefix)
    },
    facts: () => readFacts(producer),
    async oldestWaitingAtMs(queue) {
      const jobId = await producer.lindex(`${prefix}:${queue}:wait`, -1)
      const addedAtMs = jobId === null ? null : await producer.hget(`${prefix}:${queue}:${jobId}`, 'timestamp')
      return addedAtMs === null ? null : Number(addedAtMs)
    },
    keyHolders: readHolders,
    depth: (queue) => readDepth(producer, `${prefix}:${queue}`),
    async close() {
      await channels.close()
      for (const redis of opened) redis.disconnect()
    },
    async destroy() {
      await removeKeys(producer, prefix)
      await forgetServed(producer, prefix)
    },
  }
}

function setup(redis: Redis, prefix: string): BullSetup {
  return { Queue: TextQueue, factory: turningBackends(redis, prefix), connection: redis }
}

async function readFacts(redis: Redis): Promise<QueueFacts> {
  const startedMs = performance.now()
  await redis.ping()
  const latencyMs = performance.now() - startedMs
  const info = await redis.info()
  const field = (name: string) => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim()
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
