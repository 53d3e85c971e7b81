import { randomBytes } from 'node:crypto'
import { PermanentError, stageNames } from '@heddle/contracts'
import { done, migrateQueues, openQueues } from '@heddle/queue'
import { freshDatabase, freshPrefix, waitFor } from '@heddle/test-support'
import { queueSchema } from '@heddle/test-support/servers/queue-server'
import { openTcpProxy } from '@heddle/test-support/servers/tcp-proxy'
import postgres from 'postgres'
import { describe, expect, it, onTestFinished } from 'vitest'
import { gate, log, queuesAt, someThread, startWorker } from './support.js'

/** A role that can only connect, as a careful administrator grants to services. */
async function poorRole(url: string): Promise<{ role: string; url: string }> {
  const role = `heddle_test_${randomBytes(6).toString('hex')}`
  const password = randomBytes(12).toString('hex')
  await execute(url, `CREATE ROLE ${role} LOGIN PASSWORD '${password}'`)
  onTestFinished(() => execute(url, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`))
  const poor = new URL(url)
  poor.username = role
  poor.password = password
  return { role, url: poor.href }
}

async function execute(url: string, ...statements: string[]): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    for (const statement of statements) await sql.unsafe(statement)
  } finally {
    await sql.end()
  }
}

describe('a Postgres server', () => {
  it('that does not let services create a schema is reported with what to do, and works once an administrator has done it', async () => {
    const database = await freshDatabase()
    onTestFinished(database.drop)
    const { role, url } = await poorRole(database.url)
    const place = { backend: { kind: 'postgres' as const, url }, prefix: freshPrefix() }
    const opening = openQueues({ ...place, log, create: true })
    await expect(opening).rejects.toBeInstanceOf(PermanentError)
    await expect(opening).rejects.toMatchObject({ code: 'FORBIDDEN', hint: expect.stringContaining('heddle migrate') })

    await migrateQueues({ url: database.url, prefix: place.prefix, grantTo: role })
    const queues = await queuesAt(place)
    const [started, finish] = [gate(), gate()]
    const worker = await startWorker({
      stage: 'prune',
      queues,
      handler: async () => {
        started.open()
        await finish.promise
        return done()
      },
    })
    const thread = someThread()
    await queues.wake('prune', thread)
    await started.promise
    await queues.wake('prune', thread)
    finish.open()
    expect(await worker.whenSettled(2)).toHaveLength(2)
    expect((await queues.stats()).find(({ stage }) => stage === 'prune')).toMatchObject({ waiting: 0, active: 0 })
  })

  it('keeps the unused connections of a process, until its listening one is lost', async () => {
    const database = await freshDatabase()
    onTestFinished(database.drop)
    const queues = await queuesAt({ backend: { kind: 'postgres', url: database.url }, prefix: freshPrefix() })
    await Promise.all([queues.ping(), queues.stats(), queues.wake('prune', someThread())])
    const sql = postgres(database.url, { max: 1 })
    onTestFinished(() => sql.end())
    const openOf = async (name: string) => {
      const rows = await sql<{ pid: number }[]>`SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = ${name}`
      return rows.map(({ pid }) => pid)
    }
    const before = await openOf('heddle-queue')
    expect(before.length).toBeGreaterThan(0)
    await sql`SELECT pg_terminate_backend(pid) FROM unnest(${await openOf('heddle-listen')}::int[]) AS pid`
    await expect.poll(async () => (await openOf('heddle-queue')).filter((pid) => before.includes(pid))).toEqual([])
    await queues.wake('prune', someThread())
    expect((await queues.stats()).find(({ stage }) => stage === 'prune')).toMatchObject({ waiting: 2 })
  })

  it('gets no more connections from each process than the settings name', async () => {
    const database = await freshDatabase()
    onTestFinished(database.drop)
    const queues = await queuesAt({ backend: { kind: 'postgres', url: database.url }, prefix: freshPrefix() })
    for (const stage of stageNames) {
      await startWorker({ stage, queues, handler: async () => done() })
    }
    await Promise.all(Array.from({ length: 200 }, () => queues.wake('prune', someThread())))
    const { connectionsPerProcess } = await queues.ping()
    expect(connectionsPerProcess).toBe(6)
    const sql = postgres(database.url, { max: 1 })
    const [row] = await sql`SELECT count(*)::int AS count FROM pg_stat_activity
                            WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`
    await sql.end()
    expect(row?.['count']).toBeGreaterThan(0)
    expect(row?.['count']).toBeLessThanOrEqual(connectionsPerProcess ?? 0)
  })

  it('that drops the connection of a starting worker makes its start fail with a typed error, and the process goes on', async () => {
    const database = await freshDatabase()
    onTestFinished(database.drop)
    const proxy = await openTcpProxy(database.url)
    onTestFinished(() => proxy.stop())
    const place = { backend: { kind: 'postgres' as const, url: proxy.url }, prefix: freshPrefix() }
    const queues = await queuesAt(place)
    const sql = postgres(database.url, { max: 2, onnotice: () => {} })
    onTestFinished(() => sql.end({ timeout: 1 }))
    const holding = await sql.reserve()
    await holding`begin`
    // A starting worker reads the version of the schema.
    await holding`lock table ${holding(`${queueSchema(place.prefix)}.migration`)} in access exclusive mode`
    const starting = startWorker({ stage: 'prune', queues, handler: async () => done() })
    starting.catch(() => {})
    const waiting = () => sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await waitFor(async () => (await waiting()).count > 0, { what: 'a worker that starts' })
    proxy.cut()
    await expect(starting).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    await holding`rollback`
    holding.release()
    await startWorker({ stage: 'prune', queues, handler: async () => done() })
  })
})
