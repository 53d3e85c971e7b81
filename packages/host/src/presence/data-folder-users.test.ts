import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { enterFolder } from './data-folder-users.js'

const folders: string[] = []
const unaborted = new AbortController().signal
/** Processes that run as long as the test. */
const [first, second] = [process.pid, process.ppid]

afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })))
})

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-users-'))
  folders.push(folder)
  return folder
}

test('the command that started the server stops it only after the other command has left', async () => {
  const dataDir = await newFolder()
  const starter = await enterFolder(dataDir, unaborted, first)
  const joiner = await enterFolder(dataDir, unaborted, second)
  const events: string[] = []
  await starter.leaveLast({
    signal: unaborted,
    onWait(pids) {
      events.push(`waits for ${pids.map((pid) => (pid === second ? 'the joiner' : pid)).join(', ')}`)
      events.push('joiner leaves')
      void joiner.leave()
    },
    close: async () => {
      events.push('closed')
    },
  })
  expect(events).toEqual(['waits for the joiner', 'joiner leaves', 'closed'])
  expect(await readdir(dataDir)).toEqual(['users'])
})

test('a command that starts while the server is being stopped waits until it has stopped', async () => {
  const dataDir = await newFolder()
  const starter = await enterFolder(dataDir, unaborted, first)
  const events: string[] = []
  let entering: Promise<unknown> = Promise.resolve()
  await starter.leaveLast({
    signal: unaborted,
    onWait: () => undefined,
    async close() {
      entering = enterFolder(dataDir, unaborted, second).then(() => events.push('entered'))
      await new Promise((resolve) => setImmediate(resolve))
      events.push('closed')
    },
  })
  await entering
  expect(events).toEqual(['closed', 'entered'])
})

test('a command with an aborted signal does not wait for others', async () => {
  const dataDir = await newFolder()
  const starter = await enterFolder(dataDir, unaborted, first)
  await enterFolder(dataDir, unaborted, second)
  let closed = false
  await starter.leaveLast({
    signal: AbortSignal.abort(),
    onWait: () => undefined,
    close: async () => {
      closed = true
    },
  })
  expect(closed).toBe(true)
})

test('files of killed processes are ignored', async () => {
  const dataDir = await newFolder()
  const starter = await enterFolder(dataDir, unaborted, first)
  const dead = '4194304'
  const killed = JSON.stringify({ pid: Number(dead), startedAt: 'yesterday' })
  await writeFile(join(dataDir, 'users', dead), killed)
  await writeFile(join(dataDir, 'stopping'), killed)
  await (await enterFolder(dataDir, unaborted, second)).leave()
  await starter.leaveLast({ signal: unaborted, onWait: () => expect.unreachable(), close: async () => undefined })
  expect(await readdir(join(dataDir, 'users'))).toEqual([])
})

test('files from before a power cut are ignored if their pid was reused or they are incomplete', async () => {
  const dataDir = await newFolder()
  const stranger = JSON.stringify({ pid: process.ppid, startedAt: 'before the power cut' })
  await writeFile(join(dataDir, 'stopping'), stranger)
  const starter = await enterFolder(dataDir, unaborted, first)
  await writeFile(join(dataDir, 'users', String(process.ppid)), stranger)
  await writeFile(join(dataDir, 'users', '1'), '{"pid": 1, "sta')
  await starter.leaveLast({ signal: unaborted, onWait: () => expect.unreachable(), close: async () => undefined })
  expect(await readdir(join(dataDir, 'users'))).toEqual([])
})
