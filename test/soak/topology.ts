import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stageNames } from '@heddle/contracts'
import { startEmbeddedPostgres } from '@heddle/embedded'
import { createLogger } from '@heddle/runtime'
import { migrate } from '@heddle/store'
import { closeLater } from '@heddle/test-support/closing'
import { dismiss } from '@heddle/test-support/forked'
import type { SoakArguments } from './arguments.js'
import { startHeddle } from './heddle-process.js'
import type { LoadedProcess } from './process-figures.js'

/** The processes under load. */
export interface RunningTopology {
  /** Of the gateway. */
  readonly url: string
  readonly databaseUrl: string
  readonly processes: readonly LoadedProcess[]
}

const PREFIX = 'soak'
const ADMIN = 'heddle_admin'
/** Their rows are printed to the same output. */
const QUIET = { HEDDLE_LOG_LEVEL: 'warn' }

export async function startTopology(given: SoakArguments): Promise<RunningTopology> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-soak-'))
  // Postgres may run as another user, which must be able to reach its folder.
  await chmod(folder, 0o711)
  closeLater(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return await (given.topology === 'up' ? startUp : startProcesses)(join(folder, 'data'), given)
}

async function startUp(dataDir: string, { nodeOptions }: SoakArguments): Promise<RunningTopology> {
  const up = startHeddle(['up', '--port', '0', '--data', dataDir, '--json'], { ...QUIET, NODE_OPTIONS: nodeOptions })
  closeLater(() => up.stop())
  const { url, database } = await up.ready()
  const databaseUrl = new URL(String(database))
  databaseUrl.username = ADMIN
  databaseUrl.password = (await readFile(join(dataDir, 'password'), 'utf8')).trim()
  return {
    url: String(url),
    databaseUrl: databaseUrl.href,
    processes: [{ name: 'up', metricsUrl: `${url}/metrics` }],
  }
}

async function startProcesses(dataDir: string, { nodeOptions }: SoakArguments): Promise<RunningTopology> {
  const postgres = await startEmbeddedPostgres({ dataDir, log: createLogger({ level: 'error', name: 'soak' }) })
  closeLater(() => postgres.stop())
  await migrate({ url: postgres.adminUrl })
  const environment = {
    ...QUIET,
    NODE_OPTIONS: nodeOptions,
    DATABASE_URL: postgres.adminUrl,
    HEDDLE_QUEUE_PREFIX: PREFIX,
  }
  const workers = await Promise.all(
    stageNames.map(async (stage): Promise<LoadedProcess> => {
      const worker = startHeddle(['worker', stage, '--port', '0', '--json'], environment)
      closeLater(() => worker.stop())
      const { port } = await worker.ready()
      return { name: stage, metricsUrl: `http://127.0.0.1:${port}/metrics` }
    }),
  )
  const url = await startGatewayProcess(environment)
  return {
    url,
    databaseUrl: postgres.adminUrl,
    processes: [{ name: 'gateway', metricsUrl: `${url}/metrics` }, ...workers],
  }
}

async function startGatewayProcess(environment: Readonly<Record<string, string | undefined>>): Promise<string> {
  const script = fileURLToPath(new URL('./gateway-process.ts', import.meta.url))
  const child: ChildProcess = fork(script, { env: { ...process.env, ...environment } })
  closeLater(() => dismiss(child))
  const [{ url }] = (await once(child, 'message')) as [{ url: string }]
  return url
}
