import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, readlink, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitFor } from '@heddle/test-support'
import { freePort } from '@heddle/test-support/servers/redis-server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { query, runs, serverPid, start, startProcess, usedFolder } from './support.js'

const keep = (url: string) => query(url, 'CREATE TABLE kept AS SELECT 7 AS number')
const kept = (url: string) => query(url, 'SELECT number FROM kept')

/** A folder whose server held a table when it was stopped in order. */
async function folderWithTable(): Promise<string> {
  const dataDir = await usedFolder()
  const server = await start(dataDir)
  await keep(server.adminUrl)
  await server.stop()
  return dataDir
}

describe('a postmaster.pid', () => {
  it.each([
    ['that is empty', ''],
    ['of line breaks alone', '\n\n'],
    ['that is no text', '\0\0\0\0'],
    ['whose first line was cut off', '-'],
    ['of a living process that is no Postgres', `${process.ppid}\n/elsewhere\n`],
  ])('%s is treated as a leftover of a server that lost power', async (_title, content) => {
    const dataDir = await folderWithTable()
    await writeFile(join(dataDir, 'postgres', 'postmaster.pid'), content)
    const server = await start(dataDir)
    expect(await kept(server.adminUrl)).toEqual([{ number: 7 }])
    expect(runs(process.ppid)).toBe(true)
  })

  it('that is empty while the server of a killed owner still runs leads to that server being stopped first', async () => {
    const dataDir = await usedFolder()
    const owner = await startProcess(dataDir)
    await keep(owner.server.adminUrl)
    const pid = await serverPid(dataDir)
    await truncate(join(dataDir, 'postgres', 'postmaster.pid'), 0)
    owner.process.kill('SIGKILL')
    await owner.process.exited
    const server = await start(dataDir)
    expect(await kept(server.adminUrl)).toEqual([{ number: 7 }])
    expect(runs(pid)).toBe(false)
  })

  it('that is empty when the server is killed does not keep the owner from restarting it', async () => {
    const dataDir = await usedFolder()
    const server = await start(dataDir)
    await keep(server.adminUrl)
    const pid = await serverPid(dataDir)
    await truncate(join(dataDir, 'postgres', 'postmaster.pid'), 0)
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => kept(server.adminUrl).catch(() => null), { timeout: 20_000 }).toEqual([{ number: 7 }])
  })

  it('of a Postgres that Heddle did not start is named in the error and left unchanged', async () => {
    const dataDir = await usedFolder()
    const server = await start(dataDir)
    const program = await readlink(`/proc/${await serverPid(dataDir)}/exe`)
    await server.stop()
    const folder = join(dataDir, 'postgres')
    const { uid, gid } = await stat(folder)
    const parameters = ['-D', folder, '-c', `port=${await freePort()}`, '-c', 'unix_socket_directories=']
    const stranger = spawn(program, parameters, { uid, gid, cwd: '/', env: { LC_ALL: 'C' }, stdio: 'ignore' })
    const ended = once(stranger, 'exit')
    onTestFinished(async () => {
      stranger.kill('SIGQUIT')
      await ended
    })
    await waitFor(async () => (await serverPid(dataDir)) === stranger.pid, { what: 'the other server' })
    const expected = {
      code: 'CONFLICT',
      message: expect.stringContaining(`process ${stranger.pid}`),
      hint: expect.stringContaining('DATABASE_URL'),
    }
    await expect(start(dataDir)).rejects.toMatchObject(expected)
    // An incomplete file does not hide it either.
    await truncate(join(folder, 'postmaster.pid'), 0)
    await expect(start(dataDir)).rejects.toMatchObject(expected)
    expect(runs(stranger.pid ?? 0)).toBe(true)
  })
})

describe('a half-written file of the data folder', () => {
  it.each(['', '\n', 'a91f', '{"half'])('%j as the password is replaced by a new one', async (content) => {
    const dataDir = await folderWithTable()
    await writeFile(join(dataDir, 'password'), content)
    const server = await start(dataDir)
    expect(await kept(server.adminUrl)).toEqual([{ number: 7 }])
    expect(await query(server.url, 'SELECT current_user AS login')).toEqual([{ login: 'heddle_app' }])
    expect(server.url).toContain((await readFile(join(dataDir, 'password'), 'utf8')).trim())
  })

  it.each([
    ['server.json', ''],
    ['server.json', '{"pid": 7, "po'],
    ['server.json', '[]'],
    ['owner/9', ''],
    ['owner/9', '{"pid": 1'],
    ['stopping', 'garb'],
    ['up.json', '{"pi'],
  ])('%s with the content %j does not prevent a start', async (name, content) => {
    const dataDir = await folderWithTable()
    await mkdir(join(dataDir, 'owner'), { recursive: true })
    await writeFile(join(dataDir, name), content)
    expect(await kept((await start(dataDir)).adminUrl)).toEqual([{ number: 7 }])
  })
})
