import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { createPreview } from '@heddle/assemble'
import { runCli } from '@heddle/cli'
import { projectIdOf } from '@heddle/core'
import { createLogger, systemClock } from '@heddle/runtime'
import { openStore, readBackup, restoreBackup } from '@heddle/store'
import { type FreshDatabase, freshDatabase } from '@heddle/test-support'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'

const KEY = 'a key of at least sixteen characters'
const THREADS = ['one', 'two', 'three']
/** The same moment for both stores. */
const clock = { ...systemClock, nowMs: () => Date.UTC(2026, 10, 26, 12) }
const log = createLogger({ level: 'fatal', name: 'test' })

let pipeline: Pipeline
let folder: string
let whole: string

beforeAll(async () => {
  // One server of queues: a backup reads the store alone.
  pipeline = await openPipeline('postgres', { rollingWindow: null, budget: 3_000 })
  folder = await mkdtemp(join(tmpdir(), 'heddle-backup-'))
  whole = join(folder, 'whole.heddle-backup')
  const stages = await pipeline.start()
  for (const thread of THREADS) await append(thread, 0, 60)
  await pipeline.client.items.put('coder', {
    type: 'rule',
    name: 'back\\slash',
    text: 'Keep them.',
    include: 'agent',
  })
  const { agents, blocks } = pipeline.client
  const plan = { scope: 'agent', owner: 'planner', label: 'plan' } as const
  await agents.put('planner', {})
  await blocks.put(plan, { value: 'go on' })
  await blocks.grant(plan, { to: 'coder', mode: 'write' })
  await blocks.insert({ ...plan, owner: 'coder', label: 'planner/plan' }, { text: 'done' })
  await pipeline
    .clientOf('other')
    .messages.append({ agent: 'a', thread: 't', messages: [{ role: 'user', content: 'x' }] })
  for (const thread of THREADS) await pipeline.client.contexts.build({ agent: 'coder', thread })
  await stages.stop()
}, 120_000)
afterAll(async () => {
  await pipeline?.close()
  await rm(folder, { recursive: true, force: true })
})

async function append(thread: string, from: number, count: number): Promise<void> {
  const messages = Array.from({ length: count }, (_, index) => ({
    role: (from + index) % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: `${from + index}: ${'a text\twith \\ and \u0000 '.repeat(30)}`,
  }))
  await pipeline.directClient.messages.append({ agent: 'coder', thread, messages })
}

async function heddle(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const code = await runCli([...argv, '--json'], {
    stdout,
    stderr,
    env: { ...pipeline.environment, HEDDLE_PROJECT: 'tests', ...env },
    cwd: folder,
  })
  const [out, err] = [String(stdout.read() ?? ''), String(stderr.read() ?? '')]
  return { code, document: out === '' ? null : JSON.parse(out), error: err === '' ? null : JSON.parse(err).error }
}

async function emptyDatabase(): Promise<FreshDatabase & { readonly env: Readonly<Record<string, string>> }> {
  const database = await freshDatabase()
  onTestFinished(() => database.drop())
  return { ...database, env: { DATABASE_URL: database.url } }
}

/** The context of a thread, built by the same rules at the same moment, as it would be sent. */
async function contextOf(url: string, project: string, thread: string): Promise<string> {
  const store = openStore({ url })
  try {
    const settings = { rollingWindow: null, budget: 3_000 }
    const preview = createPreview({ store, clock, log, settings, embedder: null })
    const how = { projectId: projectIdOf(project), deadlineMs: 20_000 }
    return JSON.stringify(await preview({ agent: 'coder', thread }, how))
  } finally {
    await store.close()
  }
}

test('a backup while a writer appends is of one moment, and contexts of the copy are equal byte for byte', async () => {
  const writing = { isOver: false, appends: 0 }
  const writer = (async () => {
    for (; !writing.isOver; writing.appends++) await append('busy', writing.appends * 2, 2)
  })()
  const saved = await heddle(['backup', whole, '--all'], { HEDDLE_BACKUP_KEY: KEY })
  writing.isOver = true
  await writer
  expect(saved).toMatchObject({
    code: 0,
    document: { projects: ['other', 'tests'], encrypted: true, waiting: { ingest: 0 } },
  })
  expect(writing.appends).toBeGreaterThan(1)
  expect((await readFile(whole)).includes('a text')).toBe(false)

  const { url, env } = await emptyDatabase()
  const restored = await heddle(['restore', whole], { ...env, HEDDLE_BACKUP_KEY: KEY })
  expect(restored).toMatchObject({ code: 0, document: { projects: ['other', 'tests'], rows: saved.document.rows } })
  for (const thread of THREADS)
    expect(await contextOf(url, 'tests', thread)).toBe(await contextOf(pipeline.databaseUrl, 'tests', thread))
  const sql = postgres(url, { max: 1 })
  const [busy] = await sql`
    select count(*)::int as count, coalesce(max(m.seq), 0)::int as head from heddle.messages m
    join heddle.threads t on t.id = m.thread_id where t.name = 'busy'`
  await sql.end()
  expect(busy?.['count']).toBe(busy?.['head'])
  // The copy goes on: numbers that the store gives continue.
  expect(await heddle(['threads', 'list'], env)).toMatchObject({ code: 0 })
})

test('a project is restored under another name, with its contexts', async () => {
  const file = join(folder, 'project.heddle-backup')
  expect(await heddle(['backup', file])).toMatchObject({ code: 0, document: { projects: ['tests'], encrypted: false } })
  const { url, env } = await emptyDatabase()
  const restored = await heddle(['restore', file, '--as', 'copy'], env)
  expect(restored).toMatchObject({ code: 0, document: { projects: ['copy'] } })
  const messagesOf = (context: string) => JSON.stringify(JSON.parse(context).messages)
  for (const thread of THREADS) {
    const [copy, original] = [
      await contextOf(url, 'copy', thread),
      await contextOf(pipeline.databaseUrl, 'tests', thread),
    ]
    expect(messagesOf(copy)).toBe(messagesOf(original))
    expect(copy).toContain('planner/plan')
  }
  const items = await heddle(['items', 'list', '--agent', 'coder'], { ...env, HEDDLE_PROJECT: 'copy' })
  expect(JSON.stringify(items.document)).toContain('back')
  const history = ['memory', 'blocks', 'history', 'planner/plan', '--agent', 'coder']
  expect((await heddle(history, { ...env, HEDDLE_PROJECT: 'copy' })).document.items).toMatchObject([
    { version: 2, changedBy: 'coder' },
    { version: 1, changedBy: 'planner' },
  ])
})

test.each([
  ['without its key', {}, 'UNAUTHORIZED'],
  ['with another key', { HEDDLE_BACKUP_KEY: 'another key of sixteen' }, 'UNAUTHORIZED'],
])('an encrypted backup is refused %s, and the store stays empty', async (_, key, code) => {
  const { url, env } = await emptyDatabase()
  expect(await heddle(['restore', whole], { ...env, ...key })).toMatchObject({ code: 1, error: { code } })
  const sql = postgres(url, { max: 1 })
  const [found] = await sql`select to_regclass('heddle.projects') as projects`
  await sql.end()
  expect(found).toEqual({ projects: null })
})

test('a file that anyone could have made is refused where a key is given', async () => {
  const file = join(folder, 'plain.heddle-backup')
  expect(await heddle(['backup', file])).toMatchObject({ code: 0, document: { encrypted: false } })
  // It holds all messages, unencrypted.
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const { env } = await emptyDatabase()
  const refused = await heddle(['restore', file], { ...env, HEDDLE_BACKUP_KEY: KEY })
  expect(refused).toMatchObject({ code: 1, error: { code: 'VALIDATION_ERROR', field: 'file' } })
  const unknown = await readFile(file)
  unknown[8] = 7
  await writeFile(file, unknown)
  expect(await heddle(['restore', file], env)).toMatchObject({ code: 1, error: { field: 'file' } })
})

test('names of columns that the store does not have are refused before they are part of a statement', async () => {
  const backup = readBackup({ url: pipeline.databaseUrl, nowMs: clock.nowMs() })
  const chunks: Buffer[] = []
  for await (const chunk of backup) chunks.push(chunk)
  const forged = Buffer.concat(chunks).toString('latin1').replace('["name",', '["name\\") from program \'true\' --",')
  const { url, env } = await emptyDatabase()
  expect(await heddle(['migrate'], env)).toMatchObject({ code: 0 })
  const restoring = restoreBackup(
    (async function* () {
      yield Buffer.from(forged, 'latin1')
    })(),
    { url },
  )
  await expect(restoring).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    message: expect.stringContaining('no such column'),
  })
})

test('a file that was cut or changed anywhere is refused', async () => {
  const bytes = await readFile(whole)
  const { env } = await emptyDatabase()
  const cuts = [10, 40, bytes.length >> 1, bytes.length - 1].map((length) => bytes.subarray(0, length))
  const changed = Buffer.from(bytes)
  changed[bytes.length >> 1] = (changed[bytes.length >> 1] ?? 0) ^ 1
  for (const [index, content] of [...cuts, changed, Buffer.concat([bytes, bytes])].entries()) {
    const file = join(folder, `damaged-${index}`)
    await writeFile(file, content)
    const { code, error } = await heddle(['restore', file], { ...env, HEDDLE_BACKUP_KEY: KEY })
    expect([index, code, error?.code]).toEqual([index, 1, expect.stringMatching(/VALIDATION_ERROR|UNAUTHORIZED/)])
  }
})

test('a store with a project is refused, and so is an unknown project', async () => {
  expect(await heddle(['restore', whole], { HEDDLE_BACKUP_KEY: KEY })).toMatchObject({
    code: 1,
    error: { code: 'CONFLICT' },
  })
  expect(await heddle(['backup', 'none', '--project', 'unknown'])).toMatchObject({
    code: 1,
    error: { code: 'NOT_FOUND' },
  })
  // No file that looks whole, and no remainder of it.
  expect((await readdir(folder)).filter((name) => name.startsWith('none'))).toEqual([])
})
