import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitFor } from '@heddle/test-support'
import { describe, expect, it } from 'vitest'
import { log, query, runs, serverPid, start, startProcess, temporaryFolder, usedFolder } from './support.js'

describe('several processes on one folder', () => {
  it('share the server of the first, which keeps running when another one stops', async () => {
    const dataDir = await usedFolder()
    const owner = await startProcess(dataDir)
    const joined = await start(dataDir)
    expect([owner.server.owned, joined.owned]).toEqual([true, false])
    expect(joined.url).toBe(owner.server.url)
    await joined.stop()
    expect(await query(owner.server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])

    const pid = await serverPid(dataDir)
    owner.process.tell('stop')
    expect(await owner.process.exited).toEqual({ code: 0, signal: null })
    expect(runs(pid)).toBe(false)
  })

  it('agree on one owner when they start at the same moment', async () => {
    const dataDir = await temporaryFolder()
    const processes = await Promise.all([1, 2, 3].map(() => startProcess(dataDir, { DURABLE: '0' })))
    const inProcess = await Promise.all([1, 2, 3].map(() => start(dataDir)))
    const servers = [...processes.map((each) => each.server), ...inProcess]
    expect(servers.filter((server) => server.owned)).toHaveLength(1)
    expect(new Set(servers.map((server) => server.url)).size).toBe(1)
    for (const { process } of processes.filter((each) => !each.server.owned)) {
      process.tell('stop')
      await process.exited
    }
    expect(await query(servers[0]?.url ?? '', 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  it('do not mistake a dead owner for a live one after another program got its pid', async () => {
    const dataDir = await usedFolder()
    const stranger = { pid: process.ppid, startedAt: 'another time' }
    await writeFile(join(dataDir, 'owner', '7'), JSON.stringify(stranger))
    expect((await start(dataDir)).owned).toBe(true)
    expect(runs(process.ppid)).toBe(true)
  })

  it('do not join a server on another port than the requested one', async () => {
    const dataDir = await usedFolder()
    const owner = await start(dataDir)
    await expect(start(dataDir, { port: owner.port === 65_535 ? 1_024 : owner.port + 1 })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      field: 'port',
    })
  })
})

describe('an owner that is killed', () => {
  it('leaves no server behind and loses no committed data', async () => {
    const dataDir = await usedFolder()
    const owner = await startProcess(dataDir)
    await query(owner.server.adminUrl, 'CREATE TABLE kept AS SELECT generate_series(1, 1000) AS number')
    const pid = await serverPid(dataDir)
    owner.process.kill('SIGKILL')
    await waitFor(() => !runs(pid), { what: 'the server to end by itself' })

    const next = await start(dataDir)
    expect(next.owned).toBe(true)
    expect(await query(next.adminUrl, 'SELECT count(*)::int AS rows FROM kept')).toEqual([{ rows: 1000 }])
  })

  it('has its server replaced by a process that starts at the same moment', async () => {
    const dataDir = await usedFolder()
    const owner = await startProcess(dataDir)
    await query(owner.server.adminUrl, 'CREATE TABLE kept AS SELECT 42 AS answer')
    const pid = await serverPid(dataDir)
    owner.process.kill('SIGKILL')
    await owner.process.exited
    const next = await start(dataDir)
    expect(next.owned).toBe(true)
    expect(runs(pid)).toBe(false)
    expect(await query(next.adminUrl, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }])
  })

  it.runIf(process.platform === 'linux')(
    'has its server found and stopped although its watchdog was killed as well',
    async () => {
      const dataDir = await usedFolder()
      const owner = await startProcess(dataDir)
      await query(owner.server.adminUrl, 'CREATE TABLE kept AS SELECT 42 AS answer')
      const pid = await serverPid(dataDir)
      for (const watchdog of watchdogsOf(pid)) process.kill(watchdog, 'SIGKILL')
      owner.process.kill('SIGKILL')
      await owner.process.exited
      expect(runs(pid)).toBe(true)

      const next = await start(dataDir)
      expect(next.owned).toBe(true)
      expect(runs(pid)).toBe(false)
      expect(await query(next.adminUrl, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }])
    },
  )

  it('loses nothing when its server is killed at the same moment', async () => {
    const dataDir = await usedFolder()
    const owner = await startProcess(dataDir)
    await query(owner.server.adminUrl, 'CREATE TABLE kept AS SELECT generate_series(1, 1000) AS number')
    const pid = await serverPid(dataDir)
    owner.process.kill('SIGKILL')
    process.kill(pid, 'SIGKILL')
    await owner.process.exited
    const next = await start(dataDir)
    expect(await query(next.adminUrl, 'SELECT count(*)::int AS rows FROM kept')).toEqual([{ rows: 1000 }])
  })

  it('can start again although the server that it left is killed while it is being stopped', async () => {
    const dataDir = await usedFolder()
    const owner = await startProcess(dataDir)
    await query(owner.server.adminUrl, 'CREATE TABLE kept AS SELECT 42 AS answer')
    const pid = await serverPid(dataDir)
    // A frozen server does not react to a stop request.
    process.kill(pid, 'SIGSTOP')
    owner.process.kill('SIGKILL')
    await owner.process.exited
    let stops = () => {}
    const stopping = new Promise<void>((resolve) => (stops = resolve))
    const starting = start(dataDir, { log: Object.assign(Object.create(log), { warn: stops }) })
    await stopping
    process.kill(pid, 'SIGKILL')
    expect(await query((await starting).adminUrl, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }])
  })

  it.runIf(process.platform === 'linux')('leaves no watchdog behind after an ordered stop', async () => {
    const dataDir = await usedFolder()
    const server = await start(dataDir)
    const watchdogs = watchdogsOf(await serverPid(dataDir))
    expect(watchdogs).toHaveLength(1)
    await server.stop()
    await waitFor(() => !watchdogs.some(runs))
  })
})

describe('a first start that is killed', () => {
  it('is repaired by the next start', async () => {
    const dataDir = await temporaryFolder()
    const starting = startProcess(dataDir)
    const failed = expect(starting).rejects.toThrow(/before the process ended/)
    const [, pid] = await waitFor(async () => /"pid":(\d+)/.exec(await readFile(join(dataDir, 'owner', '1'), 'utf8')))
    process.kill(Number(pid), 'SIGKILL')
    await failed
    const server = await start(dataDir)
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })
})

describe('a server that is killed', () => {
  it('is restarted on the same port while its owner lives', async () => {
    const dataDir = await usedFolder()
    const server = await start(dataDir)
    await query(server.adminUrl, 'CREATE TABLE kept AS SELECT 42 AS answer')
    const pid = await serverPid(dataDir)
    process.kill(pid, 'SIGKILL')
    const rows = await waitFor(() => query(server.adminUrl, 'SELECT answer FROM kept'), { timeoutMs: 20_000 })
    expect(rows).toEqual([{ answer: 42 }])
    expect(await serverPid(dataDir)).not.toBe(pid)
  })
})

/** The processes that guard a server. */
function watchdogsOf(pid: number): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n')
  return lines
    .filter((line) => line.includes(`heddle-watchdog ${pid} `))
    .map((line) => Number(line.trim().split(' ')[0]))
}
