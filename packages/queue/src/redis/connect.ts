import { backOffMs } from '@heddle/runtime'
import { Redis, type RedisOptions } from 'ioredis'
import { bounds } from '../base/bounds.js'
import { namedError, unavailable } from '../base/errors.js'
import { inTime } from '../base/waiting.js'
import { ImpatientConnector } from './connector.js'
import { defineScripts } from './scripts.js'

export type RedisRole = 'producer' | 'worker' | 'subscriber'

/**
 * A connection that reconnects by itself until it is closed.
 *
 * A producer's commands fail after a few attempts, so that its caller learns that Redis is down and nothing piles up in
 * memory; those of workers and subscribers wait without a limit.
 */
export function createRedis(url: string, role: RedisRole, onError: (error: unknown) => void): Redis {
  const options: RedisOptions = {
    lazyConnect: true,
    // An option and not a listener, so that BullMQ's copies of the connection use it, too.
    Connector: ImpatientConnector,
    connectTimeout: bounds.connectMs,
    keepAlive: 10_000,
    // The channels renew their subscriptions themselves.
    autoResubscribe: false,
    ...(role === 'producer'
      ? // Commands fail after the fifth attempt, which is within `producerWaitMs`.
        {
          maxRetriesPerRequest: 4,
          retryStrategy: (tries: number) => backOffMs(tries - 1, { firstMs: 100, maxMs: 600 }),
        }
      : {
          maxRetriesPerRequest: null,
          retryStrategy: (tries: number) => backOffMs(tries - 1, { firstMs: 200, maxMs: bounds.reconnectMsMax }),
        }),
  }
  const redis = new Redis(url, options)
  defineScripts(redis)
  // Without a listener ioredis writes to the console.
  redis.on('error', onError)
  return redis
}

/**
 * Connects for the first time.
 *
 * @throws RetryableError `SERVICE_UNAVAILABLE`, or PermanentError `UNAUTHORIZED`; the connection is closed then
 */
export async function connectRedis(redis: Redis): Promise<void> {
  let lastError: unknown
  const remember = (error: unknown) => {
    lastError = error
  }
  redis.on('error', remember)
  try {
    await inTime(redis.connect(), bounds.connectMs, () => unavailable('Redis', lastError))
    await inTime(redis.ping(), bounds.connectMs, () => unavailable('Redis', lastError))
  } catch (error) {
    redis.disconnect()
    // `connect` itself only reports that the connection was closed; the reason is in the `error` event before.
    throw namedError(lastError ?? error, 'Redis')
  } finally {
    redis.off('error', remember)
  }
}
