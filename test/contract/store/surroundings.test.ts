import { randomBytes } from 'node:crypto'
import { inspectConnections, inspectServer, openStore } from '@heddle/store'
import { migratedDatabase, postgresUrl } from '@heddle/test-support'
import { onPostgres } from '@heddle/test-support/servers/queue-server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { PROJECT } from './support.js'

async function freshDatabase() {
  const database = await migratedDatabase()
  onTestFinished(database.drop)
  return database
}

function storeOn(url: string, connectionsMax = 2) {
  const store = openStore({ url, connectionsMax })
  onTestFinished(() => store.close())
  return store
}

describe('a database that is set to read-only', () => {
  it('is named by a ping and by writes, and written again once it is writable, also by existing sessions', async () => {
    const { name, url } = await freshDatabase()
    await onPostgres(postgresUrl(), `alter database "${name}" set default_transaction_read_only = on`)
    const store = storeOn(url, 1)
    const write = () =>
      store.inProject(PROJECT, async (tx) => {
        await tx`insert into heddle.projects (project_id, name) values (${PROJECT}, 'read-only') on conflict do nothing`
      })
    await expect(store.ping()).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: 'Postgres is read-only: default_transaction_read_only is on',
      hint: expect.stringContaining('reset default_transaction_read_only'),
    })
    await expect(write()).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining('read-only'),
    })
    // Reads continue, and leave a session from the time without writes.
    await store.inProject(PROJECT, (tx) => tx`select 1`)
    await onPostgres(postgresUrl(), `alter database "${name}" reset default_transaction_read_only`)
    await write().catch(() => {})
    await store.ping()
    await write()
  })
})

describe('a server without connections left', () => {
  async function limitedRole(max: number) {
    const { name, url } = await freshDatabase()
    const role = `heddle_limited_${randomBytes(4).toString('hex')}`
    await onPostgres(url, `create role ${role} login password 'limited' connection limit ${max} in role heddle_app`)
    onTestFinished(() => onPostgres(postgresUrl(), `drop role ${role}`))
    const limited = Object.assign(new URL(url), { username: role, password: 'limited' }).href
    return { name, role, url: limited, adminUrl: url }
  }

  it('within the limit of the role is named with the count, and used again when a connection is free', async () => {
    const { role, url, adminUrl } = await limitedRole(1)
    const [holder, store] = [openStore({ url, connectionsMax: 1 }), openStore({ url, connectionsMax: 1 })]
    await holder.ping()
    await expect(store.ping()).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining('no connection left, by the limit of the role'),
      hint: expect.stringContaining('alter role'),
    })
    expect((await inspectConnections({ url, adminUrl })).connectionLimits).toEqual([
      { of: 'role', name: role, max: 1, open: 1 },
    ])
    await holder.close()
    await expect.poll(() => store.ping().then(() => 'ok', String), { timeout: 10_000 }).toBe('ok')
    await store.close()
  })

  it('reports the limit of the database to doctor', async () => {
    const { name, url } = await freshDatabase()
    await onPostgres(postgresUrl(), `alter database "${name}" connection limit 7`)
    const health = await inspectServer({ url })
    expect(health.connectionLimits).toEqual([{ of: 'database', name, max: 7, open: 1 }])
    expect(Math.abs(health.clockSkewMs)).toBeLessThan(2_000)
  })
})
