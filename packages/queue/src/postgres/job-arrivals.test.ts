import { EventEmitter } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import type { PostgresConnection } from 'bullmq'
import { expect, test } from 'vitest'
import { JobArrivals } from './job-arrivals.js'

function setUp() {
  const client = Object.assign(new EventEmitter(), { query: async () => ({ rows: [] }) })
  const connection = Object.assign(new EventEmitter(), { getListenClient: async () => client })
  const arrivals = new JobArrivals('queue', connection as unknown as PostgresConnection)
  const notify = (payload: string) => client.emit('notification', { channel: 'bullmq_jobs', payload })
  return { arrivals, notify, client, connection, lose: () => connection.emit('listenerinvalidated') }
}

const LONG_MS = 60_000

test('a wait ends with the next job of its queue', async () => {
  const { arrivals, notify } = setUp()
  await arrivals.open()
  const waiting = arrivals.wait(arrivals.mark ?? -1, LONG_MS)
  notify('another queue')
  expect(await Promise.race([waiting, setImmediate('still waiting')])).toBe('still waiting')
  notify('queue')
  expect(await waiting).toBe(true)
})

test('a job that arrived between the mark and the wait ends it at once', async () => {
  const { arrivals, notify } = setUp()
  await arrivals.open()
  const mark = arrivals.mark ?? -1
  notify('queue')
  expect(await arrivals.wait(mark, LONG_MS)).toBe(true)
})

test('a lost connection ends waits, and there is no mark until it listens again', async () => {
  const { arrivals, lose, notify } = setUp()
  expect(arrivals.mark).toBeNull()
  await arrivals.open()
  const mark = arrivals.mark ?? -1
  const waiting = arrivals.wait(mark, LONG_MS)
  lose()
  expect(await waiting).toBe(true)
  expect(arrivals.mark).toBeNull()
  expect(await arrivals.wait(mark, LONG_MS)).toBe(true)
  await arrivals.open()
  const again = arrivals.wait(arrivals.mark ?? -1, LONG_MS)
  notify('queue')
  expect(await again).toBe(true)
})

test('a connection that is lost while it begins to listen gives no mark', async () => {
  const { arrivals, lose, client } = setUp()
  client.query = async () => {
    lose()
    return { rows: [] }
  }
  await arrivals.open()
  expect(arrivals.mark).toBeNull()
})

test('waits end at their timeout and when they are cancelled, and nothing listens after the end', async () => {
  const { arrivals, client, connection } = setUp()
  await arrivals.open()
  expect(await arrivals.wait(arrivals.mark ?? -1, 1)).toBe(false)
  const waiting = arrivals.wait(arrivals.mark ?? -1, LONG_MS)
  arrivals.close()
  expect(await waiting).toBe(false)
  expect([client.listenerCount('notification'), connection.listenerCount('listenerinvalidated')]).toEqual([0, 0])
})

test('a connection that opens after the end is not listened on', async () => {
  const { arrivals, client } = setUp()
  const opening = arrivals.open()
  arrivals.close()
  await opening
  expect(arrivals.mark).toBeNull()
  expect(client.listenerCount('notification')).toBe(0)
})

test('another client after a lost connection is listened on in place of the first', async () => {
  const { arrivals, client, connection, lose } = setUp()
  await arrivals.open()
  const next = Object.assign(new EventEmitter(), { query: async () => ({ rows: [] }) })
  connection.getListenClient = async () => next
  lose()
  await arrivals.open()
  const waiting = arrivals.wait(arrivals.mark ?? -1, LONG_MS)
  next.emit('notification', { channel: 'bullmq_jobs', payload: 'queue' })
  expect(await waiting).toBe(true)
  expect(client.listenerCount('notification')).toBe(0)
})
