import { writeFile } from 'node:fs/promises'
import { freshDatabase } from '@heddle/test-support'
import postgres from 'postgres'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Home, isAlive, openDatabaseHome, openHome } from './cli-support.js'

/** An empty database for one test. */
async function openEmpty() {
  const database = await freshDatabase()
  const sql = postgres(database.url, { max: 1, onnotice: () => {} })
  onTestFinished(async () => {
    await sql.end()
    await database.drop()
  })
  const home = await openHome({ DATABASE_URL: database.url })
  await writeSession(home)
  return { database, sql, home }
}

async function openMigrated() {
  const home = await openDatabaseHome()
  await writeSession(home)
  return home
}

async function writeSession(home: Home): Promise<void> {
  const roles = ['user', 'assistant', 'error', 'approval']
  await writeFile(home.path('a.jsonl'), roles.map((role) => `${JSON.stringify({ role, content: 'text' })}\n`).join(''))
}

describe('a database that is not migrated', () => {
  test('is not changed by any command except those that migrate', async () => {
    const { sql, home } = await openEmpty()
    const schemas = () => sql<{ name: string }[]>`select nspname as name from pg_namespace order by 1`
    const before = await schemas()
    const commands = [
      ['threads', 'list'],
      ['queues'],
      ['import', 'a.jsonl', '--agent', 'coder'],
      ['context', 'build', '--thread', 'a'],
      ['worker', 'ingest'],
      ['doctor'],
    ]
    for (const argv of commands) {
      const ran = await home.heddle(...argv, '--json')
      expect(ran.code).toBe(1)
      expect(argv[0] === 'doctor' ? ran.stdout : ran.error.hint).toContain('heddle migrate')
    }
    expect([...(await schemas())]).toEqual([...before])
  })

  test('whose user cannot create schemas leads to an error with the missing privilege and an alternative', async () => {
    const { database, sql, home } = await openEmpty()
    const login = `guard_${database.name}`
    const found = await sql`select from pg_roles where rolname = 'heddle_app'`
    if (found.length === 0) await sql`create role heddle_app nologin`
    await sql`create role ${sql(login)} login password 'plain' in role heddle_app`
    onTestFinished(async () => {
      const owner = postgres(database.url, { max: 1, onnotice: () => {} })
      await owner`drop owned by ${owner(login)} cascade`
      await owner`drop role ${owner(login)}`
      await owner.end()
    })
    const url = new URL(database.url)
    url.username = login
    url.password = 'plain'
    const limited = home.under({ DATABASE_URL: url.href })
    const refused = await limited.heddle('migrate', '--json')
    expect(refused.error).toMatchObject({ code: 'FORBIDDEN' })
    expect(refused.error.hint).toContain(`grant create on database ${database.name} to ${login}`)
    expect(refused.error.hint).toContain('HEDDLE_ADMIN_DATABASE_URL')

    const helped = await limited.under({ HEDDLE_ADMIN_DATABASE_URL: database.url }).heddle('migrate', '--json')
    expect(helped.document).toMatchObject({ upToDate: true })
    expect((await limited.heddle('threads', 'list', '--json')).document.items).toEqual([])
  })
})

test('commands that only read the store work while the queues are unreachable', async () => {
  const home = await openMigrated()
  expect((await home.heddle('import', 'a.jsonl', '--agent', 'coder', '--json')).code).toBe(0)
  const away = home.under({ REDIS_URL: 'redis://127.0.0.1:1' })
  for (const argv of [
    ['threads', 'list'],
    ['threads', 'show', 'a'],
    ['agents', 'list'],
    ['agents', 'show', 'coder'],
  ]) {
    expect(await away.heddle(...argv, '--json')).toMatchObject({ code: 0, stderr: '' })
  }
  expect((await away.heddle('queues', '--json')).error.code).toBe('SERVICE_UNAVAILABLE')
})

test('commands that would wait for a paused stage say at once how to resume it', async () => {
  const home = await openMigrated()
  expect((await home.heddle('import', 'a.jsonl', '--agent', 'coder', '--json')).code).toBe(0)
  for (const [stage, ...argv] of [
    ['ingest', 'import', 'a.jsonl', '--agent', 'coder', '--thread', 'b'],
    ['assemble', 'context', 'build', '--thread', 'a'],
  ] as const) {
    await home.heddle('queues', 'pause', '--stage', stage)
    const refused = await home.heddle(...argv, '--json')
    expect(refused).toMatchObject({ code: 1, error: { code: 'SERVICE_UNAVAILABLE' } })
    expect(refused.error.hint).toContain(`heddle queues resume --stage ${stage}`)
    await home.heddle('queues', 'resume', '--stage', stage)
    expect((await home.heddle(...argv, '--json')).code).toBe(0)
  }
})

test('an import reports separately what is in the file and in the thread, and counts the messages that no context shows', async () => {
  const home = await openMigrated()
  const { stdout } = await home.heddle('import', 'a.jsonl', '--agent', 'coder')
  const [heading = '', , row = ''] = stdout.trimEnd().split('\n')
  expect(heading).toMatch(/in the file: messages .* kept aside .* in the thread: eligible \/ imported/)
  expect(row.trim().split(/ {2,}/)).toEqual(['a', '4', '0', '0', '2', '4', '0', '2 / 2'])
})

test('an empty list says so, and a list refuses a cursor that it did not return', async () => {
  const home = await openMigrated()
  expect((await home.heddle('threads', 'list')).stdout).toContain('no threads yet')
  for (const list of ['threads', 'agents']) {
    const refused = await home.heddle(list, 'list', '--cursor', 'zz', '--json')
    expect(refused).toMatchObject({ code: 2, error: { code: 'VALIDATION_ERROR', field: 'cursor', received: '"zz"' } })
  }
})

test('a SIGTERM to "npx heddle up" also ends heddle, though npx forwards it only to a shell', async () => {
  const home = await openDatabaseHome()
  const npx = home.startByNpx(['up', '--port', '0', '--json'])
  const { pid, url } = JSON.parse(await npx.firstLine)
  onTestFinished(() => void (isAlive(pid) && process.kill(pid, 'SIGKILL')))
  expect(pid).not.toBe(npx.pid)
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  npx.kill('SIGTERM')
  // Its output ends when the last process has closed it.
  await npx.ended
  await expect(fetch(`${url}/healthz`)).rejects.toThrow()
})

test('of two "heddle up" that start at once one serves, and the other names it and exits with 0', async () => {
  const home = await openHome()
  const both = [home.start(['up', '--port', '0', '--json']), home.start(['up', '--port', '0', '--json'])]
  const documents = (await Promise.all(both.map((up) => up.firstLine))).map((line) => JSON.parse(line))
  const ready = documents.find(({ status }) => status === 'ready')
  const second = documents.find(({ status }) => status === 'already-running')
  expect(second).toMatchObject({ pid: ready?.pid, port: ready?.port })
  const [serving, idle] = both[0]?.pid === ready.pid ? both : [...both].reverse()
  expect((await idle?.ended)?.code).toBe(0)
  serving?.kill('SIGTERM')
  expect((await serving?.ended)?.code).toBe(0)
})
