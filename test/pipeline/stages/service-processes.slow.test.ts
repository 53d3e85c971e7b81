import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type FreshDatabase, freshPrefix, migratedDatabase, QUEUE_PREFIX, redisUrl } from '@heddle/test-support'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { takeHttpJourney } from '../doors/http-journey.js'
import { type ServiceProcess, startService } from '../service-process.js'
import { allStages, queueBackends } from '../support.js'

/** The built program of a service. */
const programOf = (service: string) =>
  fileURLToPath(new URL(`../../../services/${service}/dist/main.js`, import.meta.url))

/** Closing without a server to wait for takes a moment; giving up on a silent server takes ten seconds. */
const PROMPT_MS = 8_000

describe.each(queueBackends())('each service as a process on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('of its own program', () => {
    let database: FreshDatabase
    let dir: string
    let environment: Record<string, string>
    beforeAll(async () => {
      database = await migratedDatabase()
      dir = await mkdtemp(join(tmpdir(), 'heddle-services-'))
      const redis = mode === 'redis' ? redisUrl() : null
      environment = {
        DATABASE_URL: database.url,
        HEDDLE_QUEUE_PREFIX: redis === null ? QUEUE_PREFIX : freshPrefix(),
        HEDDLE_EMBEDDER: 'hashing',
        ...(redis !== null && { REDIS_URL: redis }),
      }
    })
    afterAll(async () => {
      await database.drop()
      await rm(dir, { recursive: true, force: true })
    })

    const start = (service: string, more: Record<string, string> = {}) =>
      startService(programOf(service), { ...environment, ...more }, { cwd: dir })

    test('serves a turn of an agent together with the others, reports its health, and stops in order', async () => {
      const stages = allStages.map((stage) => start(stage, { HEDDLE_HEALTH_PORT: '0' }))
      const gateway = start('gateway', { HEDDLE_PORT: '0' })
      const { port } = await gateway.logged('ready')
      const ready = await Promise.all(stages.map((stage) => stage.logged('ready')))

      await takeHttpJourney({ url: `http://127.0.0.1:${port}` })
      for (const each of [port, ...ready.map(({ healthPort }) => healthPort)]) {
        const get = (path: string) => fetch(`http://127.0.0.1:${each}${path}`)
        expect(await (await get('/healthz')).json()).toMatchObject({ status: 'ok', pid: expect.any(Number) })
        expect(await (await get('/readyz')).json()).toEqual({ status: 'ready' })
        expect(await (await get('/metrics')).text()).toContain('process_cpu_seconds_total')
      }
      const metrics = await (await fetch(`http://127.0.0.1:${ready[0]?.healthPort}/metrics`)).text()
      expect(metrics).toMatch(/^heddle_stage_jobs_done_total\{stage="ingest"\} [1-9]/m)

      for (const each of [gateway, ...stages]) await expectEndsWell(each)
    })

    test.each(['DATABASE_URL', ...(mode === 'redis' ? ['REDIS_URL'] : [])])(
      'stops in order when it is asked to while it waits for a silent %s',
      async (variable) => {
        const silent = await openSilentServer(environment[variable] ?? '')
        for (const service of ['gateway', 'prune']) {
          const reached = silent.nextConnection()
          const each = start(service, { [variable]: silent.url, HEDDLE_PORT: '0', HEDDLE_HEALTH_PORT: '0' })
          await reached
          const askedMs = performance.now()
          await expectEndsWell(each)
          expect(performance.now() - askedMs).toBeLessThan(PROMPT_MS)
        }
      },
    )

    test('serves /healthz while it waits for a server, and says in /readyz that it is not ready', async () => {
      const silent = await openSilentServer(environment['DATABASE_URL'] ?? '')
      const reached = silent.nextConnection()
      const stage = start('prune', { DATABASE_URL: silent.url, HEDDLE_HEALTH_PORT: '0' })
      await reached
      const { healthPort } = await stage.logged('starting')
      const get = (path: string) => fetch(`http://127.0.0.1:${healthPort}${path}`)
      expect((await get('/healthz')).status).toBe(200)
      const answer = await get('/readyz')
      expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'SERVICE_UNAVAILABLE' }])
      await expectEndsWell(stage)
    })
  })
})

async function expectEndsWell(service: ServiceProcess): Promise<void> {
  service.kill('SIGTERM')
  expect(await service.ended, service.written()).toEqual({ code: 0, signal: null })
  await service.logged('stopped')
}

/** A server that accepts connections and never answers. */
async function openSilentServer(like: string): Promise<{ url: string; nextConnection(): Promise<void> }> {
  const sockets = new Set<Socket>()
  let onConnection = () => {}
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}).resume())
    onConnection()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise((resolve) => server.close(() => resolve()))
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const url = new URL(like)
  url.host = `127.0.0.1:${address.port}`
  return {
    url: url.href,
    nextConnection: () =>
      new Promise((resolve) => {
        onConnection = resolve
      }),
  }
}
