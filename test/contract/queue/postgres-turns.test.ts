import { randomUUID } from 'node:crypto'
import { RetryableError } from '@heddle/contracts'
import { type DeadLetter, done } from '@heddle/queue'
import { freshDatabase, freshPrefix } from '@heddle/test-support'
import { onPostgres, type QueuePlace, queueSchema } from '@heddle/test-support/servers/queue-server'
import postgres from 'postgres'
import { describe, expect, it, onTestFinished } from 'vitest'
import { gate, ingestJob, queuesAt, startWorker } from './support.js'

async function postgresPlace(): Promise<QueuePlace> {
  const database = await freshDatabase()
  onTestFinished(database.drop)
  return { backend: { kind: 'postgres', url: database.url }, prefix: freshPrefix() }
}

/** If a job of one in two of them waited for the next poll, the test would take longer than its limit. */
const ROUNDS = 14

async function depths(queues: Awaited<ReturnType<typeof queuesAt>>) {
  const ingest = (await queues.stats()).find(({ stage }) => stage === 'ingest')
  return { waiting: ingest?.waiting, active: ingest?.active }
}

describe('jobs on Postgres', () => {
  it('that were added together come out one by one, in their order and byte for byte', async () => {
    const queues = await queuesAt(await postgresPlace())
    const jobs = Array.from({ length: 40 }, (_, index) => ingestJob({ thread: `${index}${'🧵ä"\\'.repeat(index)}` }))
    await queues.addMany('ingest', jobs)
    const received: unknown[] = []
    const worker = await startWorker({
      stage: 'ingest',
      queues,
      handler: async ({ payload }) => {
        received.push(payload)
        return done()
      },
    })
    await worker.whenSettled(40)
    expect(received).toEqual(jobs)
    expect(await depths(queues)).toEqual({ waiting: 0, active: 0 })
  })

  it('that a worker prefetched beyond its slots are released when it closes', async () => {
    const place = await postgresPlace()
    const queues = await queuesAt(place)
    // It fetches two jobs for each requesting slot, so the last of its 33 slots leaves one over.
    const [begun, finish] = [gate(), gate()]
    let held = 0
    const worker = await startWorker({
      stage: 'ingest',
      queues,
      concurrency: 33,
      handler: async () => {
        held++
        if (held === 33) begun.open()
        await finish.promise
        return done()
      },
    })
    await queues.addMany(
      'ingest',
      Array.from({ length: 40 }, () => ingestJob()),
    )
    await begun.promise
    await expect.poll(() => depths(queues)).toEqual({ waiting: 6, active: 34 })
    const closed = worker.handle.close()
    finish.open()
    await closed
    expect(await depths(queues)).toEqual({ waiting: 7, active: 0 })
  })

  it('are finished although another worker took one of them over', async () => {
    const place = await postgresPlace()
    const queues = await queuesAt(place)
    const [begun, finish] = [gate(), gate()]
    const letters: DeadLetter[] = []
    let held = 0
    const worker = await startWorker({
      stage: 'ingest',
      queues,
      recordDeadLetter: async (letter) => void letters.push(letter),
      handler: async () => {
        held++
        if (held === 5) begun.open()
        await finish.promise
        return done()
      },
    })
    const lost = ingestJob({ requestId: randomUUID() })
    await queues.addMany('ingest', [ingestJob(), ingestJob(), lost, ingestJob(), ingestJob()])
    await begun.promise
    await onPostgres(
      place.backend.url,
      `UPDATE "${queueSchema(place.prefix)}".job SET lock_token = 'another' WHERE data::text LIKE '%${lost.requestId}%'`,
    )
    finish.open()
    const settled = await worker.whenSettled(4)
    expect(settled.map(({ result }) => result)).toEqual(['done', 'done', 'done', 'done'])
    await expect.poll(() => depths(queues)).toEqual({ waiting: 0, active: 1 })
    expect(letters).toEqual([])
  })

  it('that failed are tried again when they are due, and not only at the next poll', async () => {
    const queues = await queuesAt(await postgresPlace())
    const worker = await startWorker({
      stage: 'ingest',
      queues,
      concurrency: 1,
      handler: async ({ attempt }) => {
        if (attempt === 1) throw new RetryableError('TIMEOUT', 'once')
        return done()
      },
    })
    for (let number = 1; number <= ROUNDS; number++) {
      await queues.add('ingest', ingestJob())
      await worker.whenSettled(2 * number)
    }
  })

  it('that another process locked while the worker polled are fetched once the lock is released', async () => {
    const place = await postgresPlace()
    const queues = await queuesAt(place)
    const held = new Map<string, ReturnType<typeof gate<void>>>()
    const begun = new Map<string, ReturnType<typeof gate<void>>>()
    const worker = await startWorker({
      stage: 'ingest',
      queues,
      concurrency: 1,
      handler: async ({ payload }) => {
        begun.get(payload.requestId)?.open()
        await held.get(payload.requestId)?.promise
        return done()
      },
    })
    const sql = postgres(place.backend.url, { max: 1 })
    onTestFinished(() => sql.end())
    for (let number = 1; number <= ROUNDS; number++) {
      const [running, locked] = [ingestJob(), ingestJob()]
      const [begin, finish] = [gate(), gate()]
      begun.set(running.requestId, begin)
      held.set(running.requestId, finish)
      await queues.add('ingest', running)
      await begin.promise
      await queues.add('ingest', locked)
      await sql.begin(async (transaction) => {
        const jobs = transaction(`${queueSchema(place.prefix)}.job`)
        await transaction`SELECT FROM ${jobs} WHERE data::text LIKE ${`%${locked.requestId}%`} FOR UPDATE`
        finish.open()
        await worker.whenSettled(2 * number - 1)
        await expect.poll(() => depths(queues)).toEqual({ waiting: 1, active: 0 })
      })
      await worker.whenSettled(2 * number)
    }
  })
})
