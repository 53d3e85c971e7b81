import { chmod, chown, mkdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { query, runs, serverPid, start, temporaryFolder, usedFolder } from './support.js'

describe('the first start', () => {
  it('creates a database for an ordinary role, and a superuser beside it', async () => {
    const server = await start(join(await temporaryFolder(), 'not', 'there', 'yet'))
    expect(server.owned).toBe(true)
    expect(
      await query(server.url, 'SELECT current_user, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user'),
    ).toEqual([{ current_user: 'heddle_app', rolsuper: false, rolbypassrls: false }])
    expect(await query(server.adminUrl, 'SELECT rolsuper FROM pg_roles WHERE rolname = current_user')).toEqual([
      { rolsuper: true },
    ])
    expect(
      await query(server.url, `SELECT lower('ÄÖÜ') AS lower, current_setting('server_encoding') AS encoding`),
    ).toEqual([{ lower: 'äöü', encoding: 'UTF8' }])
  })

  it('refuses connections without the password, which only its owner can read', async () => {
    const dataDir = await usedFolder()
    const server = await start(dataDir)
    const password = (await readFile(join(dataDir, 'password'), 'utf8')).trim()
    expect((await stat(join(dataDir, 'password'))).mode & 0o777).toBe(0o600)
    expect(password.length).toBeGreaterThanOrEqual(32)
    await expect(query(server.adminUrl.replace(password, 'guess'), 'SELECT 1')).rejects.toThrow(/password/)
    await expect(query(server.adminUrl.replace(password, ''), 'SELECT 1')).rejects.toThrow(/password/)
  })

  it('listens on the loopback address only, and on no socket file', async () => {
    const server = await start(await usedFolder())
    expect(
      await query(
        server.adminUrl,
        `SELECT current_setting('listen_addresses') AS addresses, current_setting('unix_socket_directories') AS sockets,
                current_setting('max_connections') AS connections, current_setting('password_encryption') AS passwords`,
      ),
    ).toEqual([{ addresses: '127.0.0.1', sockets: '', connections: '200', passwords: 'scram-sha-256' }])
  })

  it.runIf(process.getuid?.() === 0)('works, as root, in a folder that is closed to all other users', async () => {
    const closed = await temporaryFolder()
    await chmod(closed, 0o700)
    const dataDir = join(closed, 'data')
    const server = await start(dataDir)
    const place = await realpath(join(dataDir, 'postgres'))
    onTestFinished(() => rm(place, { recursive: true }))
    expect(place).toMatch(/^\/var\/lib\/heddle\/clusters\//)
    await query(server.adminUrl, 'CREATE TABLE kept AS SELECT 42 AS answer')
    await server.stop()
    const next = await start(dataDir)
    expect(await query(next.adminUrl, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }])
    await next.stop()
    expect((await stat(closed)).mode & 0o777).toBe(0o700)
  })

  it('keeps the data of users out of the log', async () => {
    const dataDir = await usedFolder()
    const server = await start(dataDir)
    await query(server.adminUrl, 'CREATE TABLE words (word text PRIMARY KEY)')
    await query(server.adminUrl, `INSERT INTO words VALUES ('secret-word')`)
    await expect(query(server.adminUrl, `INSERT INTO words VALUES ('secret-word')`)).rejects.toThrow(/duplicate/)
    const text = await readFile(join(dataDir, 'postgres.log'), 'utf8')
    expect(text).toContain('duplicate key')
    expect(text).not.toContain('secret-word')
  })
})

describe('a later start', () => {
  it('finds the data and the port of the previous start', async () => {
    const dataDir = await usedFolder()
    const first = await start(dataDir)
    await query(first.adminUrl, 'CREATE TABLE kept AS SELECT 42 AS answer')
    const pid = await serverPid(dataDir)
    await first.stop()
    expect(runs(pid)).toBe(false)

    const second = await start(dataDir)
    expect(second.owned).toBe(true)
    expect(second.url).toBe(first.url)
    expect(await query(second.adminUrl, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }])
  })

  it('takes another port when another program uses the previous one', async () => {
    const dataDir = await usedFolder()
    const first = await start(dataDir)
    await first.stop()
    await occupy(first.port)
    const second = await start(dataDir)
    expect(second.port).not.toBe(first.port)
    expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  it.each(['', '{"port":', '{"port":"many"}', '{"port":99999999}', 'null'])(
    'does not need server.json, which is damaged to %j here',
    async (content) => {
      const dataDir = await usedFolder()
      await writeFile(join(dataDir, 'server.json'), content)
      const server = await start(dataDir)
      expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    },
  )

  it('succeeds when the pid in postmaster.pid now belongs to another program', async () => {
    const dataDir = await usedFolder()
    const lines = [process.ppid, join(dataDir, 'postgres'), 1, 1, '', '127.0.0.1', '0 0', 'ready', '']
    await writeFile(join(dataDir, 'postgres', 'postmaster.pid'), lines.join('\n'))
    const server = await start(dataDir)
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    expect(runs(process.ppid)).toBe(true)
  })
})

describe('a refused start', () => {
  it('names the requested port that is in use', async () => {
    const dataDir = await usedFolder()
    const port = await occupy(0)
    await expect(start(dataDir, { port })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      field: 'port',
      received: String(port),
      hint: expect.any(String),
    })
    expect((await start(dataDir)).owned).toBe(true)
  })

  it('changes nothing in a folder that holds other files', async () => {
    const dataDir = await temporaryFolder()
    await mkdir(join(dataDir, 'postgres'))
    await writeFile(join(dataDir, 'postgres', 'thesis.txt'), 'years of work')
    if (process.getuid?.() === 0) await chown(join(dataDir, 'postgres'), 65_534, 65_534)
    await expect(start(dataDir)).rejects.toMatchObject({ code: 'CONFLICT', hint: expect.stringContaining('--data') })
    expect(await readFile(join(dataDir, 'postgres', 'thesis.txt'), 'utf8')).toBe('years of work')
  })

  it('names the Postgres release of the folder', async () => {
    const dataDir = await usedFolder()
    await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '16\n')
    await expect(start(dataDir)).rejects.toMatchObject({ code: 'CONFLICT', hint: expect.stringContaining('pg_dump') })
  })

  it('says that the data is damaged or that the password is missing', async () => {
    const dataDir = await usedFolder()
    await writeFile(join(dataDir, 'postgres', 'global', 'pg_control'), 'x')
    await expect(start(dataDir)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('damaged'),
    })
    await writeFile(join(dataDir, 'password'), '')
    await expect(start(dataDir)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('no new password could be set'),
    })
    await rm(join(dataDir, 'password'))
    await expect(start(dataDir)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('missing'),
    })
  })

  it('says that the path is not a folder or not writable', async () => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'file'), '')
    await expect(start(join(folder, 'file'))).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'data' })
    await expect(start(join(folder, 'file', 'below'))).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      field: 'data',
    })
    // The system's own folder refuses root as well.
    if (process.platform === 'linux') {
      await expect(start('/sys/heddle')).rejects.toMatchObject({ code: 'FORBIDDEN', hint: expect.any(String) })
    }
  })

  it.runIf(process.getuid?.() === 0)('refuses, as root, a cluster that belongs to root', async () => {
    const dataDir = await temporaryFolder()
    await mkdir(join(dataDir, 'postgres'))
    await expect(start(dataDir)).rejects.toMatchObject({ code: 'FORBIDDEN', hint: expect.stringContaining('chown') })
  })
})

/** Listens on a port until the test has ended. */
function occupy(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      onTestFinished(() => void server.close())
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}
