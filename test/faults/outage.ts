import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startEmbeddedPostgres } from '@heddle/embedded'
import { createClient } from '@heddle/engine'
import { openQueues } from '@heddle/queue'
import { createLogger } from '@heddle/runtime'
import { migrate, openStore } from '@heddle/store'
import { closeAll, closeLater } from '@heddle/test-support/closing'
import { freePort, startRedisServer } from '@heddle/test-support/servers/redis-server'
import { waitFor } from '@heddle/test-support/wait-for'

export interface OutageCase {
  /** The backend of the queues. */
  readonly queues: 'redis' | 'postgres'
  /** The server that is stopped. */
  readonly server: 'Redis' | 'Postgres'
  readonly seconds: number
}

export interface OutageResult {
  /** From the server's return until a message that was appended during the outage is stored, in seconds. */
  readonly waitingStored: number
  /** The same for a message that is appended when the server is back. */
  readonly nextStored: number
  /** From the server's return until every stage has processed both, in seconds. */
  readonly settled: number
  /** The server that `/readyz` of the workers named during the outage. */
  readonly readyz: readonly string[]
  /** The failed checks of `heddle doctor` during the outage; null if it was too short to run it. */
  readonly doctor: readonly string[] | null
}

const EXECUTABLE = fileURLToPath(new URL('../../packages/cli/bin/heddle.js', import.meta.url))
const PREFIX = 'outage'
/** Far above every measured time; a longer one is a failure. */
const PATIENCE_MS = 120_000
/** An outage must last longer than `heddle doctor` takes, on a busy machine too. */
const DOCTOR_SECONDS_MIN = 15
const log = createLogger({ level: 'fatal', name: 'outage' })

/**
 * Stops one of its own servers for a while, while `heddle worker all` runs in another process and a
 * producer appends.
 *
 * @throws Error if the workers end, or something does not recover at all
 */
export async function runOutage({ queues: kind, server, seconds }: OutageCase): Promise<OutageResult> {
  try {
    const servers = await openServers(kind)
    const env = servers.environment
    const workers = startHeddle(['worker', 'all', '--port', '0', '--json'], env)
    closeLater(() => workers.stop())
    const { port } = JSON.parse(await workers.firstLine()) as { port: number }
    const client = await openClient(servers)
    const append = async (content: string) => {
      await client.messages.append({
        agent: 'a',
        thread: 't',
        messages: [{ role: 'user', content }],
        deadlineMs: PATIENCE_MS + seconds * 1_000,
      })
      return performance.now()
    }
    await append('before')
    await readyz(port, (ready) => ready.status === 200)

    await servers.stop(server)
    const awayAtMs = performance.now()
    const waiting = append('during')
    waiting.catch(() => {})
    const doctor = seconds < DOCTOR_SECONDS_MIN ? null : failedChecks(env)
    const { away } = await readyz(port, (ready) => ready.status === 503)
    const doctorSays = await doctor
    await pauseUntil(awayAtMs + seconds * 1_000)
    await servers.start(server)

    const backAtMs = performance.now()
    const next = append('after')
    const [waitingAtMs, nextAtMs] = await Promise.all([waiting, next])
    await client.threads.waitUntilSettled('t', { deadlineMs: PATIENCE_MS })
    const settledAtMs = performance.now()
    await readyz(port, (ready) => ready.status === 200)
    if (workers.hasEnded()) throw new Error('the workers have ended')
    const since = (atMs: number) => Number(((atMs - backAtMs) / 1_000).toFixed(2))
    return {
      waitingStored: since(waitingAtMs),
      nextStored: since(nextAtMs),
      settled: since(settledAtMs),
      readyz: away,
      doctor: doctorSays,
    }
  } finally {
    await closeAll()
  }
}

interface Servers {
  readonly environment: Readonly<Record<string, string>>
  readonly databaseUrl: string
  readonly queueBackend: { kind: 'redis' | 'postgres'; url: string }
  stop(server: OutageCase['server']): Promise<void>
  /** With its data and at its former address. */
  start(server: OutageCase['server']): Promise<void>
}

async function openServers(kind: OutageCase['queues']): Promise<Servers> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-outage-'))
  await chmod(folder, 0o711)
  closeLater(() => rm(folder, { recursive: true, force: true }))
  const startPostgres = () => startEmbeddedPostgres({ dataDir: join(folder, 'data'), log })
  const port = await freePort()
  // As in a durable deployment: data acknowledged a second ago survives.
  const startRedis = () => startRedisServer({ folder, port, settings: { appendonly: 'yes' } })
  let postgres = await startPostgres()
  let redis = kind === 'redis' ? await startRedis() : null
  closeLater(async () => {
    await redis?.stop()
    await postgres.stop()
  })
  const databaseUrl = postgres.adminUrl
  await migrate({ url: databaseUrl })
  return {
    databaseUrl,
    queueBackend: redis === null ? { kind: 'postgres', url: databaseUrl } : { kind: 'redis', url: redis.url },
    environment: {
      DATABASE_URL: databaseUrl,
      HEDDLE_QUEUE_PREFIX: PREFIX,
      HEDDLE_EMBEDDER: 'hashing',
      // Heddle is measured, not the machine's load from other processes.
      HEDDLE_WORKERS_NICENESS: '0',
      ...(redis !== null && { REDIS_URL: redis.url }),
    },
    async stop(server) {
      if (server === 'Redis') await redis?.kill()
      else await postgres.stop()
    },
    async start(server) {
      if (server === 'Redis') redis = await startRedis()
      else postgres = await startPostgres()
    },
  }
}

async function openClient({ databaseUrl, queueBackend }: Servers) {
  const store = openStore({ url: databaseUrl })
  closeLater(() => store.close())
  const queues = await openQueues({ backend: queueBackend, prefix: PREFIX, log, create: true })
  closeLater(() => queues.close({ timeoutMs: 0 }))
  return createClient({ store, queues })
}

interface Heddle {
  firstLine(): Promise<string>
  /** Its complete output, once it has ended. */
  ended(): Promise<string>
  hasEnded(): boolean
  stop(): Promise<void>
}

function startHeddle(argv: readonly string[], env: Readonly<Record<string, string>>): Heddle {
  const child: ChildProcess = spawn(process.execPath, [EXECUTABLE, ...argv], {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  child.stdout?.on('data', (part) => {
    output += String(part)
  })
  const closed = once(child, 'close')
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  return {
    firstLine: () =>
      waitFor(() => output.includes('\n') && (output.split('\n')[0] ?? ''), {
        what: `the first line of heddle ${argv.join(' ')}`,
        timeoutMs: PATIENCE_MS,
      }),
    async ended() {
      await closed
      return output
    },
    hasEnded,
    async stop() {
      if (!hasEnded()) child.kill('SIGKILL')
      await closed
    },
  }
}

async function failedChecks(env: Readonly<Record<string, string>>): Promise<string[]> {
  const output = await startHeddle(['doctor', '--json'], env).ended()
  const { checks } = JSON.parse(output) as { checks: { name: string; status: string; detail: string }[] }
  return checks.filter(({ status }) => status === 'fail').map(({ name, detail }) => `${name}: ${detail}`)
}

/** Repeats the request until the answer is the expected one. */
async function readyz(
  port: number,
  isWanted: (response: Response) => boolean,
): Promise<{ readonly away: readonly string[] }> {
  return await waitFor(
    async () => {
      const response = await fetch(`http://127.0.0.1:${port}/readyz`)
      const { facts } = (await response.json()) as { facts?: { away: string[] } }
      return isWanted(response) && { away: facts?.away ?? [] }
    },
    { what: 'what /readyz should say', timeoutMs: PATIENCE_MS },
  )
}

async function pauseUntil(atMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, atMs - performance.now())))
}
