import { backOffMs, parseRedisAddress, type RedisAddress } from '@heddle/runtime'
import { Redis, type RedisOptions } from 'ioredis'
import { bounds } from '../base/bounds.js'
import { invalidAddress, namedError, unavailable } from '../base/errors.js'
import { inTime } from '../base/waiting.js'
import { ImpatientConnector, QuietSentinelConnector } from './connector.js'
import { defineScripts } from './scripts.js'

export type RedisRole = 'producer' | 'worker' | 'subscriber'

/**
 * A connection that reconnects by itself until it is closed.
 *
 * A producer's commands fail after a few attempts, so that its caller learns that Redis is down and nothing piles up in
 * memory; those of workers and subscribers wait without a limit.
 *
 * @throws PermanentError `VALIDATION_ERROR` for an invalid address
 */
export function createRedis(url: string, role: RedisRole, onError: (error: unknown) => void): Redis {
  const address = parseRedisAddress(url)
  if (address === null) throw invalidAddress()
  const options: RedisOptions = {
    lazyConnect: true,
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
  const redis = open(address, options)
  defineScripts(redis)
  // Without a listener ioredis writes to the console.
  redis.on('error', onError)
  return redis
}

function open(address: RedisAddress, options: RedisOptions): Redis {
  // An option and not a listener, so that BullMQ's copies of the connection use it, too.
  if (address.kind === 'server') return new Redis(address.url, { ...options, Connector: ImpatientConnector })
  const { sentinels, name, username, password, database, isEncrypted } = address
  return new Redis({
    ...options,
    Connector: QuietSentinelConnector,
    sentinels: [...sentinels],
    name,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    db: database,
    ...(isEncrypted && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
    // The sentinels report a new primary, also if the former one can no longer be reached.
    failoverDetector: true,
    sentinelCommandTimeout: bounds.connectMs,
    sentinelRetryStrategy: (tries) => backOffMs(tries - 1, { firstMs: 100, maxMs: bounds.reconnectMsMax }),
    // A primary that became a replica before its clients noticed.
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
  })
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
