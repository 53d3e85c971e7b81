import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@heddle/embedded'
import { createLogger, type Logger } from '@heddle/runtime'
import { afterEachFile, type SpawnedNode, spawnNode } from '@heddle/test-support'
import postgres from 'postgres'
import { onTestFinished } from 'vitest'

export const log = createLogger({ level: 'error', name: 'test' })

/** A folder for one test, which is removed when the test has ended. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-test-embedded-'))
  // If root runs the tests, Postgres runs as another user, which needs access to the folder.
  await chmod(folder, 0o711)
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

let seed: Promise<string> | undefined

/** A copy of a folder in which a server was started and stopped before, which is faster than a first start. */
export async function usedFolder(): Promise<string> {
  seed ??= makeSeed()
  const folder = await temporaryFolder()
  // Unlike Node's own copy, it keeps the owners of the files.
  await promisify(execFile)('cp', ['-a', `${await seed}/.`, folder])
  return folder
}

afterEachFile(async () => {
  const used = await seed
  seed = undefined
  if (used !== undefined) await rm(used, { recursive: true, force: true })
})

async function makeSeed(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-test-embedded-'))
  await chmod(folder, 0o711)
  await (await startEmbeddedPostgres({ dataDir: folder, log, durable: false })).stop()
  return folder
}

/** Starts a server that stops, at the latest, when the test has ended. It never flushes: only power cuts need that. */
export async function start(dataDir: string, options: { port?: number; log?: Logger } = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, log, durable: false, ...options })
  onTestFinished(() => server.stop())
  return server
}

export interface OwnerProcess {
  process: SpawnedNode
  server: Pick<EmbeddedPostgres, 'url' | 'adminUrl' | 'port' | 'owned'>
}

/** Starts a server in a process of its own. */
export async function startProcess(dataDir: string, env: Record<string, string> = {}): Promise<OwnerProcess> {
  const child = spawnNode(new URL('./owner-process.ts', import.meta.url), { parameters: [dataDir], env })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await child.exited
  })
  const [, server = ''] = await child.line(/^started (.*)$/)
  return { process: child, server: JSON.parse(server) as OwnerProcess['server'] }
}

/** Runs one statement and returns its rows. */
export async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    return [...(await sql.unsafe(statement))]
  } finally {
    await sql.end()
  }
}

/** The pid of the server in a data folder, as reported by the server. */
export async function serverPid(dataDir: string): Promise<number> {
  const content = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')
  return Number(content.split('\n')[0])
}

/** Whether a process runs; one that ended and was not yet waited for does not. */
export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return process.platform !== 'linux'
  }
}
