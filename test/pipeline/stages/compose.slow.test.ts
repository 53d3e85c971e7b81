import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startEmbeddedPostgres } from '@heddle/embedded'
import { createLogger } from '@heddle/runtime'
import { redisUrl } from '@heddle/test-support'
import { freePort, startRedisServer } from '@heddle/test-support/servers/redis-server'
import postgres from 'postgres'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ComposeService, composeConfig, createRoleStatements, readComposeServices } from '../compose-file.js'
import { takeHttpJourney } from '../doors/http-journey.js'
import { type ServiceProcess, startService } from '../service-process.js'

/** The image's `heddle`. */
const HEDDLE = fileURLToPath(new URL('../../../packages/cli/bin/heddle.js', import.meta.url))
const SECRETS = { POSTGRES_PASSWORD: 'a', HEDDLE_APP_PASSWORD: 'b', REDIS_PASSWORD: 'c' }
const shown = await composeConfig(SECRETS)
const missing = redisUrl() === null ? ' (left out: no redis-server)' : ''

test.skipIf(shown === null)(
  `docker-compose lists the services that this test starts by hand${shown === null ? ' (left out: no docker-compose)' : ''}`,
  async () => {
    const read = await readComposeServices(SECRETS)
    expect(Object.keys(shown ?? {})).toContain('gateway')
    expect(Object.keys(shown ?? {}).sort()).toEqual(Object.keys(read).sort())
    for (const [name, { command, environment }] of Object.entries(read)) {
      expect(shown?.[name]).toMatchObject({ command, ...(environment !== undefined && { environment }) })
    }
  },
)

describe.skipIf(redisUrl() === null)(`the processes of docker-compose.yml, started by hand${missing}`, () => {
  test('serve a turn of an agent with a key from "migrate keys create", and stop in order', async () => {
    const { services, run, start } = await openDeployment()
    await run('migrate')
    const made = await run('migrate', ['keys', 'create', '--name', 'admin', '--role', 'admin', '--json'])
    const { key } = JSON.parse(made) as { key: string }

    const own = Object.keys(services).filter((name) => services[name]?.image === 'heddle:local' && name !== 'migrate')
    expect(own).toEqual(['ingest', 'prune', 'summarize', 'embed', 'remember', 'assemble', 'gateway'])
    const started = own.map(start)
    const ready = await Promise.all(started.map((each) => each.logged('ready')))
    const url = `http://127.0.0.1:${ready.at(-1)?.port}`
    expect((await fetch(`${url}/v1/agents`)).status).toBe(401)
    await takeHttpJourney({ url, key })
    // The health check of each service, with and without a model.
    for (const name of ['ingest', 'gateway']) await run(name, ['doctor', '--json'])

    for (const each of started) {
      each.kill('SIGTERM')
      expect(await each.ended, each.written()).toEqual({ code: 0, signal: null })
    }
  })
})

interface Deployment {
  readonly services: Readonly<Record<string, ComposeService>>
  /** Runs a service to its end, with its own command or another, and returns its output. */
  run(name: string, argv?: readonly string[]): Promise<string>
  start(name: string): ServiceProcess
}

/** A Postgres and a Redis as in docker-compose.yml, on other ports, and the services started beside them. */
async function openDeployment(): Promise<Deployment> {
  const dir = await mkdtemp(join(tmpdir(), 'heddle-compose-'))
  await chmod(dir, 0o711)
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  const log = createLogger({ level: 'warn', name: 'test' })
  const server = await startEmbeddedPostgres({ dataDir: join(dir, 'data'), durable: false, log })
  onTestFinished(() => server.stop())
  const secrets = { ...SECRETS, POSTGRES_PASSWORD: new URL(server.adminUrl).password, REDIS_PASSWORD: 'of-redis' }
  await createRole(server.adminUrl, secrets.HEDDLE_APP_PASSWORD)
  const redisPort = await freePort()
  const settings = { requirepass: secrets.REDIS_PASSWORD }
  const redis = await startRedisServer({ folder: dir, port: redisPort, settings })
  onTestFinished(() => redis.stop())

  const services = await readComposeServices(secrets)
  const own = (text: string) =>
    text.replace('@postgres:5432', `@127.0.0.1:${server.port}`).replace('@redis:6379', `@127.0.0.1:${redisPort}`)
  const spawn = (name: string, argv = services[name]?.command ?? []) =>
    startService(
      HEDDLE,
      Object.fromEntries(Object.entries(services[name]?.environment ?? {}).map(([key, text]) => [key, own(text)])),
      { argv, cwd: dir },
    )
  return {
    services,
    async run(name, argv) {
      const process = spawn(name, argv)
      const { code } = await process.ended
      expect(code, process.written()).toBe(0)
      return process.written()
    },
    // Everything except the port, which may be in use here.
    start: (name) =>
      spawn(
        name,
        services[name]?.command.map((word) => (word === '4680' ? '0' : word)),
      ),
  }
}

/** This server has the role by itself; a server of the image has it from the script. */
async function createRole(adminUrl: string, password: string): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} })
  try {
    await sql.unsafe('DROP OWNED BY heddle_app; DROP ROLE heddle_app')
    await sql.unsafe(await createRoleStatements(password))
  } finally {
    await sql.end()
  }
}
