import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { freePort } from '@heddle/test-support/servers/redis-server'
import postgres from 'postgres'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type DatabaseHome, isAlive, openDatabaseHome } from '../cli/cli-support.js'

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const require = createRequire(import.meta.url)
const EVERYTHING = require.resolve('@modelcontextprotocol/server-everything/dist/index.js')
const ODD = fileOf('../doors/odd-mcp-server.mjs')
const SECRET = 'sesame-5f2b'

let home: DatabaseHome

beforeAll(async () => {
  home = await openDatabaseHome({ TOKEN: SECRET, EMPTY: '' })
})

const sync = (server: string, ...options: string[]) =>
  home.heddle('items', 'sync', '--agent', 'coder', '--server', server, '--json', ...options)

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more })

/** Queries a server with configurable faults. */
async function syncOdd(server: string, told: object, name = server, ...options: string[]) {
  const file = `${name}.json`
  await writeFile(home.path(file), JSON.stringify(told))
  return await sync(server, ...options, '--command', process.execPath, ODD, file, SECRET)
}

/** A server of this test only, which accepts every request. */
async function listen(answer: RequestListener): Promise<number> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

test('the tools of a published server are listed over standard input and output, and nothing is new the second time', async () => {
  const first = await sync('everything', '--command', process.execPath, EVERYTHING, 'stdio')
  expect(first.stderr).toBe('')
  expect(first.document).toMatchObject({
    agent: 'coder',
    serverName: 'everything',
    changed: [],
    removed: [],
    notes: [],
  })
  expect(first.document.added).toEqual(expect.arrayContaining(['echo', 'get-sum', 'get-env']))
  const second = await sync('everything', '--command', `"${process.execPath}" "${EVERYTHING}"`)
  const third = await sync('everything', '--', process.execPath, EVERYTHING, 'stdio')
  expect(third.document).toEqual(second.document)
  expect(second.document).toMatchObject({ added: [], changed: [], removed: [], unchanged: first.document.added.length })
})

test('the tools of the same server are listed over Streamable HTTP, which requires permission for local addresses', async () => {
  const port = await freePort()
  const server = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => void server.kill('SIGKILL'))
  await once(server.stderr, 'data')
  const url = `http://localhost:${port}/mcp?key=${SECRET}`
  const refused = await sync('remote', '--url', url)
  expect(refused).toMatchObject({ code: 1, error: { code: 'FORBIDDEN', field: 'url', received: 'localhost' } })
  expect(refused.stderr).not.toContain(SECRET)
  const listed = await sync('remote', '--url', url, '--allow-private', '--header', 'X-Token=TOKEN')
  expect(listed.stderr).toBe('')
  expect(listed.document.added).toEqual(expect.arrayContaining(['echo', 'get-sum']))
})

test('new, changed and removed tools are reported, also for a list of several pages', async () => {
  const before = await syncOdd('odd', { pages: [[tool('a'), tool('b')], [tool('c')]] })
  expect(before.document.added).toEqual(['a', 'b', 'c', 'environment'])
  const after = await syncOdd('odd', { pages: [[tool('b', { description: 'Reads.' })], [tool('c'), tool('d')]] })
  expect(after.document).toMatchObject({ added: ['d'], changed: ['b'], removed: ['a'], unchanged: 2 })
  await home.heddle('threads', 'set', 'old', '--agent', 'coder')
  await writeFile(home.path('told.json'), JSON.stringify({ pages: [[tool('\u001b[2J'), tool('e')]] }))
  const options = ['--agent', 'coder', '--server', 'odd', '--command', process.execPath, ODD, 'told.json']
  const shown = await home.heddle('items', 'sync', ...options)
  expect(shown.stdout.split('\n')).toEqual([
    'server odd · agent coder · 2 tools, 1 as before',
    'new (1): e',
    'gone (3): b, c, d',
    'note: a thread that began before does not have it until it is added: old',
    '      heddle items set tool e --server odd --thread old',
    'note: tool 1 of the list was left out: its name must not hold control characters',
    '',
  ])
})

const many = Array.from({ length: 10_000 }, (_, index) => tool(`tool-${index}`))
const huge = tool('big', { inputSchema: { type: 'object', description: 'x'.repeat(200_000) } })
const odd = [
  { does: 'lists 10,000 tools', told: { pages: [many] }, code: 'PAYLOAD_TOO_LARGE' },
  { does: 'lists two tools of one name', told: { pages: [[tool('x')], [tool('x')]] }, code: 'VALIDATION_ERROR' },
  { does: 'lists a huge schema', told: { pages: [[tool('x'), huge]] }, code: 'PAYLOAD_TOO_LARGE' },
  { does: 'lists what is no tool', told: { pages: [[{ name: 7 }]] }, code: 'VALIDATION_ERROR' },
  { does: 'sends a line without end', told: { says: 'x'.repeat(11_000_000) }, code: 'PAYLOAD_TOO_LARGE' },
  {
    does: 'dies between two pages',
    told: { pages: [[tool('x')], []], diesAfterPages: 1 },
    code: 'SERVICE_UNAVAILABLE',
  },
  { does: 'refuses, with its secret', told: { refuses: true }, code: 'SERVICE_UNAVAILABLE' },
  { does: 'offers no tools', told: { capabilities: {} }, code: 'VALIDATION_ERROR' },
  { does: 'gives the same page for ever', told: { repeats: true }, code: 'PAYLOAD_TOO_LARGE' },
  { does: 'never answers', told: { ignores: true, stays: true, says: 'no JSON' }, code: 'TIMEOUT' },
]

describe('a server that misbehaves', () => {
  const syncKept = (file: string, told: object, ...options: string[]) => syncOdd('kept', told, file, ...options)
  const good = { pages: [[tool('kept')]] }
  beforeAll(() => syncKept('good', good))

  test.concurrent.for(odd)(
    'and $does leads to $code, reveals no secret, and is stopped',
    async ({ does, told, code }) => {
      const failed = await syncKept(does, told, '--timeout', code === 'TIMEOUT' ? '1' : '20', '--env', 'TOKEN')
      expect(failed).toMatchObject({ code: 1, stdout: '', error: { code } })
      expect(failed.stderr).not.toContain(SECRET)
      expect(isAlive(Number(await readFile(home.path(`${does}.json.pid`), 'utf8')))).toBe(false)
    },
  )

  test('does not change the stored tools', async () => {
    const { document } = await syncKept('good', good)
    expect(document).toMatchObject({ added: [], changed: [], removed: [], unchanged: 2 })
  })
})

test('a program gets the named environment variables, and of the others only those that every program needs', async () => {
  const sql = postgres(home.databaseUrl, { max: 1 })
  onTestFinished(() => sql.end())
  const environmentOf = async (...options: string[]) => {
    await writeFile(home.path('told.json'), '{}')
    await sync('plain', ...options, '--command', process.execPath, ODD, 'told.json')
    const [row] = await sql`
      select description from heddle.items join heddle.item_versions using (version)
      where item_id = id and server_name = 'plain'`
    return String(row?.['description']).split(' ')
  }
  const usual = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER']
  expect(usual).toEqual(expect.arrayContaining(await environmentOf()))
  expect(await environmentOf('--env', 'TOKEN')).toContain('TOKEN')
})

test('a redirect to another address is not followed, and a silent server leads to a timeout', async () => {
  let asked = 0
  const target = await listen(() => asked++)
  const port = await listen((_, answer) => answer.writeHead(307, { location: `http://127.0.0.1:${target}/` }).end())
  const led = await sync('led', '--allow-private', '--url', `http://127.0.0.1:${port}/mcp`)
  expect(led).toMatchObject({ code: 1, error: { code: 'FORBIDDEN', received: `127.0.0.1:${port}` } })
  expect(asked).toBe(0)
  const silent = await sync('silent', '--allow-private', '--timeout', '1', '--url', `http://127.0.0.1:${target}/`)
  expect(silent.error).toMatchObject({ code: 'TIMEOUT', field: 'url' })
  expect(asked).toBe(1)
})

test.for([
  { answers: 401, code: 'UNAUTHORIZED' },
  { answers: 404, code: 'NOT_FOUND' },
  { answers: 503, code: 'SERVICE_UNAVAILABLE' },
  { answers: 200, code: 'VALIDATION_ERROR' },
])('an address that answers $answers leads to $code, without the text of its answer', async ({ answers, code }) => {
  const port = await listen((request, answer) => answer.writeHead(answers).end(String(request.headers['x-token'])))
  const url = `http://127.0.0.1:${port}/mcp`
  const failed = await sync('web', '--allow-private', '--url', url, '--header', 'X-Token=TOKEN')
  expect(failed).toMatchObject({ code: 1, error: { code, field: 'url' } })
  expect(failed.stderr).not.toContain(SECRET)
})

test('an error of the command line is a usage error, and repeats no secret', async () => {
  const url = 'https://example.com/mcp'
  const faults = [
    [],
    ['--url', url, '--command', 'node'],
    ['--url', `https://user:${SECRET}@example.com/`],
    ['--url', `${SECRET}:`],
    ['--url', url, '--header', `Authorization=Bearer ${SECRET}`],
    ['--url', url, '--header', 'Authorization=NOT_THERE'],
    ['--command', 'node', '--env', `TOKEN=${SECRET}`],
    ['--command', 'node', '--env', 'EMPTY'],
    ['--command', 'node', '--allow-private'],
    ['--command', "node '"],
    ['--url', url, '--timeout', '0'],
  ]
  for (const options of faults) {
    const failed = await sync('x', ...options)
    expect(failed, options.join(' ')).toMatchObject({ code: 2, error: { code: 'VALIDATION_ERROR' } })
    expect(failed.stderr).not.toContain(SECRET)
  }
  for (const words of [
    ['--command', 'node', 'server.js'],
    ['--', 'node', 'server.js'],
  ]) {
    const { error } = await sync('x', '--url', url, ...words)
    expect(error).toMatchObject({ field: 'url', hint: expect.stringMatching(/HEDDLE_URL=.* --command npx -- -y/) })
  }
  const missing = await sync('x', '--command', 'no-such-program-anywhere')
  expect(missing).toMatchObject({ code: 1, error: { code: 'NOT_FOUND', received: 'no-such-program-anywhere' } })
})
