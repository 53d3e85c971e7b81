import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { migrate, openStore } from '@heddle/store'
import { freshDatabase, waitFor } from '@heddle/test-support'
import postgres from 'postgres'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freshStore, PROJECT } from './support.js'

async function failureOf(url: string): Promise<unknown> {
  const store = openStore({ url, connectionsMax: 1 })
  onTestFinished(() => store.close())
  return await store.inProject(PROJECT, (tx) => tx`select id from heddle.messages`).catch((error: unknown) => error)
}

/** The address of a server that accepts connections and is not Postgres. */
async function serverThat(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)))
    answer(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `postgres://nobody@127.0.0.1:${(server.address() as AddressInfo).port}/none`
}

describe('the store', () => {
  it('reports an unreachable server as unavailable, and says what to do', async () => {
    expect(await failureOf('postgres://nobody@127.0.0.1:1/none')).toMatchObject({
      name: 'RetryableError',
      code: 'SERVICE_UNAVAILABLE',
      hint: expect.stringContaining('DATABASE_URL'),
      cause: expect.anything(),
    })
  })

  it('refers to `heddle migrate` when the database is not migrated', async () => {
    const { url, drop } = await freshDatabase()
    onTestFinished(drop)
    expect(await failureOf(url)).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      hint: expect.stringContaining('heddle migrate'),
    })
  })

  it('gives up after ten seconds on a server that accepts connections and never answers, or closes each without an answer', {
    timeout: 30_000,
  }, async () => {
    const silent = await serverThat(() => {})
    const curt = await serverThat((socket) => void socket.resume().end())
    const startedMs = performance.now()
    const failures = await Promise.all(
      [silent, curt].flatMap((url) => [failureOf(url), migrate({ url }).catch((error: unknown) => error)]),
    )
    for (const failure of failures) {
      expect(failure).toMatchObject({ code: 'SERVICE_UNAVAILABLE', hint: expect.stringContaining('host and port') })
    }
    // More than twice the limit, since the machine may be busy.
    expect(performance.now() - startedMs).toBeLessThan(25_000)
  })

  it('does not reuse a connection that the server has refused and is about to close', async () => {
    const { url, drop } = await freshStore()
    onTestFinished(drop)
    const refusal = Buffer.from('SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0')
    const length = Buffer.alloc(4)
    length.writeInt32BE(refusal.length + length.length)
    let first: Socket | undefined
    const server = createServer((socket) => {
      socket.on('error', () => {})
      if (first === undefined) {
        first = socket
        socket.once('data', () => socket.write(Buffer.concat([Buffer.from('E'), length, refusal])))
      } else {
        const outgoing = connect(Number(new URL(url).port || 5432), new URL(url).hostname)
        outgoing.on('error', () => {}).on('close', () => socket.destroy())
        socket.pipe(outgoing).pipe(socket)
      }
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const through = new URL(url)
    through.port = String((server.address() as AddressInfo).port)
    const store = openStore({ url: through.href, connectionsMax: 1 })
    onTestFinished(() => store.close())

    const refused = store.inProject(PROJECT, (tx) => tx`select 1`)
    const waiting = store.inProject(PROJECT, (tx) => tx`select id from heddle.messages`)
    await expect(refused).rejects.toMatchObject({ name: 'RetryableError', code: 'SERVICE_UNAVAILABLE' })
    await setImmediate()
    first?.destroy()
    expect(await waiting).toEqual([])
  })

  it('names the database that does not exist', async () => {
    const { url, drop } = await freshDatabase()
    await drop()
    expect(await failureOf(url)).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining('database'),
    })
  })

  it('reports a refused login as a permanent error, unauthorized', async () => {
    const { url, drop } = await freshDatabase()
    onTestFinished(drop)
    const wrong = new URL(url)
    wrong.username = 'heddle_nobody_of_this_name'
    wrong.password = 'wrong'
    expect(await failureOf(wrong.href)).toMatchObject({ name: 'PermanentError', code: 'UNAUTHORIZED' })
  })

  it('keeps the password out of the error for an invalid address', () => {
    const open = () => openStore({ url: 'postgres://user:secret@host:port:1/db' })
    expect(open).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR', field: 'DATABASE_URL' }))
    expect(open).not.toThrow(/secret/)
  })

  it('recovers by itself after the server dropped its connections', async () => {
    const { url, store, drop } = await freshStore()
    onTestFinished(drop)
    const sql = postgres(url, { max: 1 })
    onTestFinished(() => sql.end())
    const cut = store.inProject(PROJECT, async (tx) => {
      const [{ pid } = { pid: 0 }] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
      await sql`select pg_terminate_backend(${pid})`
      await tx`select id from heddle.messages`
    })
    await expect(cut).rejects.toMatchObject({ name: 'RetryableError', code: 'SERVICE_UNAVAILABLE' })
    await store.ping()
    expect(await store.inProject(PROJECT, (tx) => tx`select id from heddle.messages`)).toEqual([])
  })

  it('fails a transaction that goes on without its connection, and nothing beside it', async () => {
    const { url, store, drop } = await freshStore()
    onTestFinished(drop)
    const sql = postgres(url, { max: 1 })
    onTestFinished(() => sql.end())
    const goesOn = store.inProject(PROJECT, async (tx) => {
      const [{ pid } = { pid: 0 }] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
      await sql`select pg_terminate_backend(${pid})`
      await tx`select 1`.catch(() => {})
      const several = async () => await tx`select 1`
      await Promise.all([several(), tx`select 2`])
    })
    await expect(goesOn).rejects.toMatchObject({ name: 'RetryableError', code: 'SERVICE_UNAVAILABLE' })
    await setImmediate()
  })

  it('survives any number of dropped connections: each transaction ends, with success or a typed error', async () => {
    const { url, store, drop } = await freshStore()
    onTestFinished(drop)
    const sql = postgres(url, { max: 1 })
    onTestFinished(() => sql.end())
    let failures = 0
    let running = 8
    const worker = async () => {
      for (let round = 0; round < 40; round++) {
        await store
          .inProject(PROJECT, async (tx) => {
            await tx`select id from heddle.messages`
            await setImmediate()
            await Promise.all([tx`select id from heddle.threads`, tx`select id from heddle.agents`])
            await setImmediate()
            await tx`select id from heddle.contexts`
          })
          .catch((error: unknown) => {
            expect(error).toMatchObject({ name: 'RetryableError', code: 'SERVICE_UNAVAILABLE' })
            failures++
          })
      }
      running--
    }
    const cutter = async () => {
      while (running > 0) {
        await sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`
        await setImmediate()
      }
    }
    await Promise.all([cutter(), ...Array.from({ length: 8 }, worker)])
    expect(failures).toBeGreaterThan(0)
    // The last connections may still close: a transaction that gets one of them fails like those above.
    const read = () => store.inProject(PROJECT, (tx) => tx`select id from heddle.messages`)
    expect(await waitFor(read, { what: 'a transaction that is served' })).toEqual([])
  })

  it('passes the error of a transaction function through unchanged, and rolls back', async () => {
    const { store, drop } = await freshStore()
    onTestFinished(drop)
    const fault = new Error('of the work')
    const failing = store.inProject(PROJECT, async (tx) => {
      await tx`insert into heddle.projects (project_id, name) values (${PROJECT}, 'x')`
      throw fault
    })
    await expect(failing).rejects.toBe(fault)
    expect(await store.inProject(PROJECT, (tx) => tx`select name from heddle.projects`)).toEqual([])
  })
})
