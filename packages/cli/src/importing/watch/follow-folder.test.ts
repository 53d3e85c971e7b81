import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  stat,
  truncate,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ConflictError, type MessageInput, PermanentError, RetryableError } from '@heddle/contracts'
import { messageFingerprint } from '@heddle/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Destination } from '../destination.js'
import { fileError } from '../read-file.js'
import { findSessions } from './find-sessions.js'
import { FolderFollower, type FollowEvent, LATEST_MS, QUIET_MS } from './follow-folder.js'
import { importSession, newSession } from './import-session.js'

let folder: string
let nowMs: number

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-watch-'))
  // Files that tests write have the time of the machine: they are quiet already.
  nowMs = Date.now() + 60_000
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Stores messages as the ingest stage does: once by their ids, and no other message under the same id. */
class StoredThreads implements Destination {
  readonly threads = new Map<string, Map<string, MessageInput>>()
  /** Messages of all calls, those that were stored before included. */
  sent = 0
  fault: Error | null = null

  async append(thread: string, messages: readonly MessageInput[]) {
    if (this.fault !== null) throw this.fault
    this.sent += messages.length
    const stored = this.threads.get(thread) ?? new Map<string, MessageInput>()
    const other = messages.find((message) => {
      const before = stored.get(message.id)
      return before !== undefined && messageFingerprint(before) !== messageFingerprint(message)
    })
    if (other !== undefined) throw new ConflictError(`message ${other.id} has other contents`, { field: 'id' })
    const fresh = messages.filter(({ id }) => !stored.has(id))
    for (const message of fresh) stored.set(message.id, message)
    this.threads.set(thread, stored)
    return { stored: fresh.length, repeated: messages.length - fresh.length, grown: 0 }
  }

  holds = async (thread: string) => this.threads.has(thread)
  compare = async () => {}
  overview = async (thread: string) => ({ eligible: 0, imported: this.threads.get(thread)?.size ?? 0, warnings: [] })

  said(thread: string): string[] {
    return [...(this.threads.get(thread)?.values() ?? [])].map(({ content }) => content)
  }
}

const importingTo = (destination: Destination) => ({
  destination,
  project: 'default',
  agent: 'coder',
  newAgentRollingWindow: null,
  format: 'auto' as const,
  signal: new AbortController().signal,
})

/** A run of the command: its passes are called by the test, at times of the test. */
function started(destination: StoredThreads) {
  const locked = new Set<string>()
  /** Folders whose names are read, and not their files. */
  const unsearchable = new Set<string>()
  const denied = (path: string) => Object.assign(new Error(`EACCES: ${path}`), { code: 'EACCES' })
  const follower = new FolderFollower({
    find: () =>
      findSessions([folder], {
        async entries(path) {
          if (locked.has(path)) throw denied(path)
          return await readdir(path, { withFileTypes: true })
        },
        async stat(path) {
          if (unsearchable.has(dirname(path))) throw denied(path)
          return await stat(path)
        },
      }),
    importFile: async (path, known) => {
      if (locked.has(path)) throw fileError(path, denied(path))
      return await importSession(path, known, importingTo(destination))
    },
    clock: { nowMs: () => nowMs },
  })
  const pass = async (): Promise<FollowEvent[]> => {
    const events: FollowEvent[] = []
    for await (const event of follower.pass()) events.push(event)
    return events
  }
  /** Two passes: one that sees what was written, and one after it was quiet for long enough. */
  const settled = async () => {
    const events = await pass()
    nowMs += QUIET_MS
    return [...events, ...(await pass())]
  }
  return { pass, settled, locked, unsearchable }
}

const line = (value: object) => `${JSON.stringify(value)}\n`
const claude = (number: number, content = `said ${number}`) =>
  line({
    type: 'user',
    uuid: `u${number}`,
    timestamp: `2026-02-12T14:30:0${number}.000Z`,
    message: { role: 'user', content },
  })
const codexItem = (role: 'user' | 'assistant', text: string) =>
  line({
    timestamp: '2026-02-12T14:30:00.000Z',
    type: 'response_item',
    payload: { type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] },
  })
const codex = (session: string) =>
  line({ timestamp: '2026-02-12T14:30:00.000Z', type: 'session_meta', payload: { id: session } })

const kinds = (events: readonly FollowEvent[]) => events.map(({ event }) => event)

test('a session is stored as it grows, each message once, and only new ones are sent', async () => {
  const store = new StoredThreads()
  const { settled } = started(store)
  await writeFile(join(folder, 'run.jsonl'), claude(1))
  expect(kinds(await settled())).toEqual(['imported'])
  await appendFile(join(folder, 'run.jsonl'), claude(2) + claude(3))
  expect(await settled()).toMatchObject([{ event: 'imported', sent: { stored: 2, repeated: 0 } }])
  expect(await settled()).toEqual([])
  expect(store.said('run')).toEqual(['said 1', 'said 2', 'said 3'])
  expect(store.sent).toBe(3)
})

test('a file is read once it is quiet, or some seconds after its first change if it never is', async () => {
  const store = new StoredThreads()
  const { pass } = started(store)
  const file = join(folder, 'busy.jsonl')
  await writeFile(file, claude(0))
  await utimes(file, nowMs / 1_000, nowMs / 1_000)
  expect(await pass()).toEqual([])
  nowMs += QUIET_MS
  expect(kinds(await pass())).toEqual(['imported'])
  const begunAtMs = nowMs
  for (let number = 1; nowMs - begunAtMs < LATEST_MS; number++) {
    await appendFile(file, claude(number))
    expect(await pass()).toEqual([])
    nowMs += QUIET_MS - 1
  }
  expect(kinds(await pass())).toEqual(['imported'])
  await appendFile(file, claude(9))
  await pass()
  nowMs += QUIET_MS - 1
  expect(await pass()).toEqual([])
  nowMs += 1
  expect(kinds(await pass())).toEqual(['imported'])
})

test('a line is read when it is whole, however it was cut', async () => {
  const store = new StoredThreads()
  const { settled } = started(store)
  const file = join(folder, 'cut.jsonl')
  const bytes = Buffer.from(claude(1) + claude(2, 'größer'))
  const cut = bytes.indexOf(0xc3) + 1
  await writeFile(file, bytes.subarray(0, 20))
  expect(await settled()).toEqual([])
  await writeFile(file, bytes.subarray(0, cut))
  await settled()
  expect(store.said('cut')).toEqual(['said 1'])
  await writeFile(file, bytes.subarray(0, bytes.length - 1))
  await settled()
  expect(store.said('cut')).toEqual(['said 1'])
  await writeFile(file, bytes)
  await settled()
  expect(store.said('cut')).toEqual(['said 1', 'größer'])
})

test('sessions that appear later, in new subfolders, are followed too, and other files are not', async () => {
  const store = new StoredThreads()
  const { settled } = started(store)
  expect(await settled()).toEqual([])
  await mkdir(join(folder, '2026/11'), { recursive: true })
  await writeFile(join(folder, '2026/11/rollout-1.jsonl'), codex('one') + codexItem('user', 'Fix it.'))
  await writeFile(join(folder, 'notes.md'), claude(1))
  expect(kinds(await settled())).toEqual(['imported'])
  expect([...store.threads.keys()]).toEqual(['rollout-1'])
})

test('a session that was moved to another name goes on in its thread', async () => {
  const store = new StoredThreads()
  const { settled } = started(store)
  await writeFile(join(folder, 'current.jsonl'), claude(1))
  await settled()
  await rename(join(folder, 'current.jsonl'), join(folder, 'older.jsonl'))
  await appendFile(join(folder, 'older.jsonl'), claude(2))
  await settled()
  expect([...store.threads.keys()]).toEqual(['current'])
  expect(store.said('current')).toEqual(['said 1', 'said 2'])
})

test('a new session whose file has the inode of a removed one has the thread of its own name', async () => {
  const store = new StoredThreads()
  const [old, next] = [join(folder, 'old.jsonl'), join(folder, 'next.jsonl')]
  await writeFile(old, claude(1))
  const known = newSession(old)
  await importSession(old, known, importingTo(store))
  await writeFile(next, claude(2))
  expect(await importSession(next, known, importingTo(store))).toMatchObject({ isReplaced: false })
  expect([store.said('old'), store.said('next')]).toEqual([['said 1'], ['said 2']])
})

test('another session in the same file becomes a thread of its own, also for the next run', async () => {
  const store = new StoredThreads()
  const file = join(folder, 'session.jsonl')
  const second = codex('two') + codexItem('user', 'Go on.') + codexItem('assistant', 'Gone on.')
  const first = started(store)
  await writeFile(file, codex('one') + codexItem('user', 'Begin.') + codexItem('assistant', 'Begun.'))
  await first.settled()
  await unlink(file)
  await writeFile(file, second)
  expect(kinds(await first.settled())).toEqual(['replaced', 'imported'])
  const threads = [...store.threads.keys()]
  expect(threads).toEqual(['session', expect.stringMatching(/^session-[0-9a-f]{8}$/)])

  const again = started(store)
  await appendFile(file, codexItem('user', 'And on.'))
  expect(kinds(await again.settled())).toEqual(['imported'])
  expect([...store.threads.keys()]).toEqual(threads)
  expect(store.said(threads[0] ?? '')).toEqual(['Begin.', 'Begun.'])
  expect(store.said(threads[1] ?? '')).toEqual(['Go on.', 'Gone on.', 'And on.'])
})

test('a file that is truncated and written again stores nothing twice', async () => {
  const store = new StoredThreads()
  const { settled } = started(store)
  const file = join(folder, 'run.jsonl')
  await writeFile(file, claude(1) + claude(2))
  await settled()
  await truncate(file, claude(1).length)
  await settled()
  await appendFile(file, claude(3))
  await settled()
  expect(store.said('run')).toEqual(['said 1', 'said 2', 'said 3'])
})

test('a run that is started again sends everything again, of which nothing is stored twice', async () => {
  const store = new StoredThreads()
  await writeFile(join(folder, 'run.jsonl'), claude(1) + claude(2))
  await started(store).settled()
  await appendFile(join(folder, 'run.jsonl'), claude(3))
  expect(await started(store).settled()).toMatchObject([{ event: 'imported', sent: { stored: 1, repeated: 2 } }])
  expect(store.said('run')).toEqual(['said 1', 'said 2', 'said 3'])
})

test('while the store is away the file is read again after a pause that grows, and reported once', async () => {
  const store = new StoredThreads()
  const { pass } = started(store)
  store.fault = new RetryableError('SERVICE_UNAVAILABLE', 'the store is away')
  await writeFile(join(folder, 'run.jsonl'), claude(1))
  expect(await pass()).toMatchObject([{ event: 'retrying', reason: 'the store is away' }])
  nowMs += 1_999
  expect(await pass()).toEqual([])
  nowMs += 1
  expect(await pass()).toEqual([])
  store.fault = null
  nowMs += 3_999
  expect(await pass()).toEqual([])
  nowMs += 1
  expect(kinds(await pass())).toEqual(['imported'])
  expect(store.said('run')).toEqual(['said 1'])
})

test('a broken line is reported once, stops no other session, and is read again when the file changes', async () => {
  const store = new StoredThreads()
  const { settled } = started(store)
  await writeFile(join(folder, 'broken.jsonl'), `${claude(1)}{"type":\n${claude(2)}`)
  await writeFile(join(folder, 'good.jsonl'), claude(1))
  const events = await settled()
  expect(kinds(events).sort()).toEqual(['failed', 'imported'])
  expect(events.find(({ event }) => event === 'failed')).toMatchObject({
    status: 'unreadable',
    error: { field: 'line 2' },
  })
  expect(await settled()).toEqual([])
  await writeFile(join(folder, 'broken.jsonl'), claude(1) + claude(2))
  expect(kinds(await settled())).toEqual(['imported'])
})

test('a session without messages so far is waited for, and is no failure', async () => {
  const store = new StoredThreads()
  const { settled } = started(store)
  await writeFile(join(folder, 'rollout-2.jsonl'), codex('two'))
  expect(kinds(await settled())).toEqual(['waiting'])
  await appendFile(join(folder, 'rollout-2.jsonl'), codexItem('user', 'Fix it.'))
  expect(kinds(await settled())).toEqual(['imported'])
})

test('of two files of one name in several folders the older one has the thread, and the other is refused', async () => {
  const store = new StoredThreads()
  const { settled } = started(store)
  await mkdir(join(folder, 'a'))
  await writeFile(join(folder, 'run.jsonl'), claude(1))
  await settled()
  await writeFile(join(folder, 'a/run.jsonl'), claude(2))
  expect(await settled()).toMatchObject([{ event: 'failed', error: { code: 'CONFLICT', field: 'name' } }])
  await appendFile(join(folder, 'run.jsonl'), claude(3))
  expect(kinds(await settled())).toEqual(['imported'])
  expect(store.said('run')).toEqual(['said 1', 'said 3'])
})

test.each(['locked', 'unsearchable'] as const)(
  'a folder that is %s is reported once, stops no other session, and goes on when it can be read',
  async (how) => {
    const store = new StoredThreads()
    const { settled, [how]: locked } = started(store)
    const secret = join(folder, 'secret')
    await mkdir(secret)
    await writeFile(join(folder, 'open.jsonl'), claude(1))
    await writeFile(join(secret, 'run.jsonl'), claude(1))
    await settled()
    await appendFile(join(secret, 'run.jsonl'), claude(2))
    await appendFile(join(folder, 'open.jsonl'), claude(2))
    locked.add(secret)
    const events = await settled()
    expect(kinds(events)).toEqual(['failed', 'imported'])
    expect(events[0]).toMatchObject({
      file: secret,
      status: 'unreadable',
      error: { code: 'FORBIDDEN', field: 'folder' },
    })
    expect(await settled()).toEqual([])
    expect([store.said('open'), store.said('run')]).toEqual([['said 1', 'said 2'], ['said 1']])
    locked.clear()
    expect(await settled()).toMatchObject([{ event: 'imported', sent: { stored: 1, repeated: 0 } }])
    expect(store.said('run')).toEqual(['said 1', 'said 2'])
    locked.add(secret)
    expect(kinds(await settled())).toEqual(['failed'])
  },
)

test('a file that cannot be read is reported once, and is read when it changes', async () => {
  const store = new StoredThreads()
  const { settled, locked } = started(store)
  const [secret, open] = [join(folder, 'secret.jsonl'), join(folder, 'open.jsonl')]
  await writeFile(secret, claude(1))
  await writeFile(open, claude(1))
  locked.add(secret)
  expect(kinds(await settled()).sort()).toEqual(['failed', 'imported'])
  locked.clear()
  await appendFile(secret, claude(2))
  expect(kinds(await settled())).toEqual(['imported'])
  expect(store.said('secret')).toEqual(['said 1', 'said 2'])
})

test('an error of the access ends the run', async () => {
  const store = new StoredThreads()
  const { pass, settled } = started(store)
  await writeFile(join(folder, 'run.jsonl'), claude(1))
  await settled()
  store.fault = new PermanentError('FORBIDDEN', 'the key may not append')
  await appendFile(join(folder, 'run.jsonl'), claude(2))
  await pass()
  nowMs += QUIET_MS
  await expect(pass()).rejects.toThrow('the key may not append')
})
