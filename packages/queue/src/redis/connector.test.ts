import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { createRedis } from './connect.js'

/** A sentinel that answers nothing until it is closed. */
async function startSilentSentinel() {
  const sockets: Socket[] = []
  const server = createServer((socket) => void sockets.push(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(close)
  const url = `redis+sentinel://127.0.0.1:${(server.address() as AddressInfo).port}/heddle`
  return { url, close, whenAsked: once(server, 'connection') }
}

/** As the `FailoverDetector` of ioredis does. */
const reportFailover = (redis: Redis) =>
  (redis as unknown as { connector: { disconnect(): void } }).connector.disconnect()

test('a failover that is reported during the search for the primary does not end the connection', async () => {
  const sentinel = await startSilentSentinel()
  const redis = createRedis(sentinel.url, 'worker', () => {})
  onTestFinished(() => redis.disconnect())
  redis.connect().catch(() => {})
  await sentinel.whenAsked
  const next = Promise.race([
    once(redis, 'reconnecting').then(() => 'reconnecting'),
    once(redis, 'end').then(() => 'end'),
  ])
  reportFailover(redis)
  sentinel.close()
  expect(await next).toBe('reconnecting')
})

test('a connection that is ended during the search for the primary stays ended', async () => {
  const sentinel = await startSilentSentinel()
  const redis = createRedis(sentinel.url, 'worker', () => {})
  redis.connect().catch(() => {})
  await sentinel.whenAsked
  const ended = once(redis, 'end')
  redis.disconnect()
  sentinel.close()
  await ended
  expect(redis.status).toBe('end')
})
