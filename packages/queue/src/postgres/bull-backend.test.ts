import { EventEmitter } from 'node:events'
import type { PostgresConnection } from 'bullmq'
import { expect, test } from 'vitest'
import { PostgresWorkerBackend, type WorkerBackendOptions } from './bull-backend.js'

interface Answer {
  readonly rows: readonly object[]
}

/** A worker whose fetches are answered by the test, and whose probe before the first wait finds a job. */
async function listeningWorker() {
  const listening = Object.assign(new EventEmitter(), { query: async () => ({ rows: [] }) })
  const fetches: ((answer: Answer) => void)[] = []
  const query = (statement: string): Promise<Answer> => {
    if (!statement.includes('heddle_turn_jobs')) return Promise.resolve({ rows: [{ present: true }] })
    return new Promise((resolve) => fetches.push(resolve))
  }
  const connection = Object.assign(new EventEmitter(), {
    schema: 'queue',
    pool: { query },
    waitUntilReady: async () => {},
    getListenClient: async () => listening,
  })
  const options = { connection: {}, concurrency: 1, lockDuration: 10_000 } as WorkerBackendOptions
  const worker = new PostgresWorkerBackend(connection as unknown as PostgresConnection, 'ingest', options)
  await worker.waitForJob(LONG_SECONDS)
  const notify = () => listening.emit('notification', { channel: 'bullmq_jobs', payload: 'ingest' })
  const fetch = async (answer: Answer, meanwhile = () => {}) => {
    const fetched = worker.moveToActive()
    await expect.poll(() => fetches.length).toBe(1)
    meanwhile()
    fetches.pop()?.(answer)
    return await fetched
  }
  return { worker, fetch, notify }
}

const LONG_SECONDS = 3_600
const ARRIVED = { member: 'ingest', score: 0 }
const EMPTY: Answer = { rows: [] }
const reported = (rest: object): Answer => ({
  rows: [{ id: null, data: null, kept: null, next_at_ms: null, has_waiting: false, ...rest }],
})

test('a job that is added while a fetch finds no job ends the wait after it', async () => {
  const { worker, fetch, notify } = await listeningWorker()
  await fetch(EMPTY, notify)
  expect(await worker.waitForJob(LONG_SECONDS)).toEqual(ARRIVED)
})

test('a worker waits for the next job without another query', async () => {
  const { worker, fetch, notify } = await listeningWorker()
  await fetch(EMPTY)
  const waiting = worker.waitForJob(LONG_SECONDS)
  notify()
  expect(await waiting).toEqual(ARRIVED)
})

test('a worker waits no longer than until the next retry is due', async () => {
  const { worker, fetch } = await listeningWorker()
  const due = (afterMs: number) => reported({ next_at_ms: String(Date.now() + afterMs) })
  await fetch(due(200))
  // At the end of its time, or at once if that was over already: not after an hour.
  await worker.waitForJob(LONG_SECONDS)
  await fetch(due(-1))
  expect(await worker.waitForJob(LONG_SECONDS)).toEqual(ARRIVED)
})

test('a worker queries once more before it waits if a job was left waiting', async () => {
  const { worker, fetch } = await listeningWorker()
  await fetch(reported({ has_waiting: true }))
  expect(await worker.waitForJob(LONG_SECONDS)).toEqual(ARRIVED)
})

test('a worker that is interrupted does not wait', async () => {
  const { worker, fetch } = await listeningWorker()
  await fetch(EMPTY)
  const waiting = worker.waitForJob(LONG_SECONDS)
  await worker.disconnectBlocking()
  expect(await waiting).toBeNull()
  expect(await worker.waitForJob(LONG_SECONDS)).toBeNull()
})
