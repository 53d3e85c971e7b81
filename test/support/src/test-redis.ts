import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export type TestRedis = { owned: boolean; stop(): Promise<void> } & (
  | { url: string; missing: null }
  | { url: null; missing: string }
)

const READY_TIMEOUT_MS = 20_000

/**
 * The Redis of `REDIS_URL`, else a `redis-server` of this machine on a free port in a temporary folder, else none.
 *
 * @throws Error when there is none although HEDDLE_REQUIRE_REDIS=1 asks for one
 */
export async function startTestRedis(): Promise<TestRedis> {
  const given = process.env['REDIS_URL']
  if (given !== undefined && given !== '') return { url: given, missing: null, owned: false, stop: async () => {} }
  if (await isInstalled()) return startOwnRedis()

  const missing = 'REDIS_URL is not set and no redis-server is installed (set it, or: apt-get install redis-server)'
  if (process.env['HEDDLE_REQUIRE_REDIS'] === '1') throw new Error(`HEDDLE_REQUIRE_REDIS=1, but ${missing}`)
  return { url: null, missing, owned: false, stop: async () => {} }
}

async function isInstalled(): Promise<boolean> {
  return promisify(execFile)('redis-server', ['--version']).then(
    () => true,
    () => false,
  )
}

async function startOwnRedis(): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-test-redis-'))
  const port = await freePort()
  const settings = { port: String(port), bind: '127.0.0.1', dir: folder, 'maxmemory-policy': 'noeviction', save: '' }
  const parameters = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
  // Its shell waits for the end of the input, which comes when this process is gone, even if it was killed.
  const script = 'redis-server "$@" & server=$!; read -r word; kill "$server"; wait "$server"'
  const child = spawn('/bin/sh', ['-c', script, 'heddle-test-redis', ...parameters], {
    cwd: folder,
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.on('error', () => {})
  await untilReady(child)
  return {
    url: `redis://127.0.0.1:${port}`,
    missing: null,
    owned: true,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit')
        child.stdin.end()
        await exited
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function untilReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = ''
    const fail = (reason: string) => {
      child.stdin?.end()
      reject(new Error(`redis-server ${reason}: ${output.slice(-1_000)}`))
    }
    const timer = setTimeout(() => fail(`was not ready after ${READY_TIMEOUT_MS} ms`), READY_TIMEOUT_MS)
    child.stdout?.on('data', (chunk) => {
      output += String(chunk)
      if (!output.includes('Ready to accept connections')) return
      clearTimeout(timer)
      // What it says from here on is of no interest, but the pipe must be kept empty.
      child.stdout?.removeAllListeners('data').resume()
      resolve()
    })
    child.once('exit', () => {
      clearTimeout(timer)
      fail('has ended')
    })
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => (typeof address === 'object' && address !== null ? resolve(address.port) : reject()))
    })
  })
}
