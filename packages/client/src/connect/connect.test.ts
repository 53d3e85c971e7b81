import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connectIn, type Surroundings } from './connect.js'
import type { OpenClientOptions } from './options.js'

function notInstalled(): Promise<never> {
  const message = "Cannot find package '@heddle/engine' imported from /app/node_modules/@heddle/client/dist"
  return Promise.reject(Object.assign(new Error(message), { code: 'ERR_MODULE_NOT_FOUND' }))
}

function around(env: Surroundings['env'], cwd = '/nowhere'): Surroundings {
  return { env, cwd, loadEngine: notInstalled }
}

/** A gateway that answers each request with a description of it. */
async function startEcho(answer: (path: string) => unknown) {
  const keys: (string | undefined)[] = []
  const server = createServer((request, response) => {
    keys.push(request.headers.authorization)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer(request.url ?? '')))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, port, keys }
}

const emptyPage = { items: [], nextCursor: null }

test('HEDDLE_URL and HEDDLE_KEY are enough, and options override them', async () => {
  const [named, other] = [await startEcho(() => emptyPage), await startEcho(() => emptyPage)]
  const env = { HEDDLE_URL: named.url, HEDDLE_KEY: 'from-env', DATABASE_URL: 'postgres://unused' }
  await using byEnvironment = await connectIn(around(env), {})
  await byEnvironment.threads.list()
  await using byOptions = await connectIn(around(env), { url: other.url, key: 'given' })
  await byOptions.threads.list()
  expect([named.keys, other.keys]).toEqual([['Bearer from-env'], ['Bearer given']])
})

test('a closed client refuses calls at once, and may be closed again', async () => {
  const { url } = await startEcho(() => emptyPage)
  const heddle = await connectIn(around({}), { url })
  await heddle.close()
  await heddle.close()
  await expect(heddle.threads.list()).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    message: 'the client was closed',
  })
})

test('more than ten calls at once are no leak of listeners', async () => {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => void warnings.push(warning)
  process.on('warning', onWarning)
  onTestFinished(() => void process.off('warning', onWarning))
  const { url } = await startEcho(() => emptyPage)
  await using heddle = await connectIn(around({}), { url })
  await Promise.all(Array.from({ length: 20 }, () => heddle.threads.list()))
  expect(warnings).toEqual([])
})

test('without @heddle/engine a database is refused with the package to install', async () => {
  for (const [env, options] of [
    [{ DATABASE_URL: 'postgres://db' }, {}],
    [{ HEDDLE_URL: 'http://unused' }, { databaseUrl: 'postgres://db' }],
  ] as const) {
    await expect(connectIn(around(env), options)).rejects.toMatchObject({
      name: 'PermanentError',
      code: 'NOT_FOUND',
      field: 'databaseUrl',
      hint: expect.stringContaining('npm install @heddle/engine'),
    })
  }
})

test('an engine that is installed but broken shows its own error', async () => {
  const broken = new Error("Cannot find package 'pg' imported from @heddle/engine-of-another-kind")
  const surroundings = { ...around({ DATABASE_URL: 'postgres://db' }), loadEngine: () => Promise.reject(broken) }
  await expect(connectIn(surroundings, {})).rejects.toBe(broken)
})

test('with @heddle/engine the database and the variables are passed to it', async () => {
  const seen: OpenClientOptions[] = []
  let closed = 0
  const env = { REDIS_URL: 'redis://cache' }
  const engine = {
    async openClient(options: OpenClientOptions) {
      seen.push(options)
      return { kind: 'queue', client: {} as never, close: async () => void closed++ } as const
    },
  }
  const surroundings = { env, cwd: '/work', loadEngine: async () => engine }
  const heddle = await connectIn(surroundings, { databaseUrl: 'postgres://db', project: 'shop' })
  await heddle.close()
  await heddle[Symbol.asyncDispose]()
  expect(seen).toEqual([{ databaseUrl: 'postgres://db', project: 'shop', env, cwd: '/work' }])
  expect(closed).toBe(1)
})

test('the database of heddle.yaml is found through the engine', async () => {
  const engine = { openClient: async () => ({ kind: 'embedded', dataDir: '/elsewhere' }) as const }
  const failed = connectIn({ env: {}, cwd: '/work', loadEngine: async () => engine }, {})
  await expect(failed).rejects.toThrow('no Heddle runs for /elsewhere')
})

test('without settings it connects to the heddle up of the folder, or else says how to start', async () => {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), 'heddle-connect-')))
  onTestFinished(() => rm(cwd, { recursive: true, force: true }))
  await expect(connectIn(around({ HEDDLE_DATA: cwd }, cwd), {})).rejects.toMatchObject({
    code: 'NOT_FOUND',
    hint: expect.stringContaining('npx heddle up'),
  })
  const up = await startEcho((path) => (path === '/healthz' ? { pid: process.pid, dataDir: cwd } : emptyPage))
  const word = { pid: process.pid, port: up.port, startedAt: new Date().toISOString() }
  await writeFile(join(cwd, 'up.json'), JSON.stringify(word))
  await using heddle = await connectIn(around({ HEDDLE_DATA: '.' }, cwd), {})
  expect(await heddle.threads.list()).toEqual(emptyPage)
})

test('a gateway and a database at once are refused', async () => {
  await expect(connectIn(around({}), { url: 'http://127.0.0.1:1', project: 'shop' })).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    field: 'project',
  })
})
