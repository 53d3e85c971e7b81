import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'

const READY_TIMEOUT_MS = 60_000

/** A `redis-server` of this machine, which ends with this process, even if that was killed. */
export interface RedisServer {
  readonly url: string
  /** The effect of `kill -9`. */
  kill(): Promise<void>
  stop(): Promise<void>
}

export interface RedisServerOptions {
  readonly folder: string
  readonly port: number
  /** Settings besides port, address and folder. */
  readonly settings?: Readonly<Record<string, string>>
}

/** @throws Error if it does not start, or is not installed */
export async function startRedisServer({ folder, port, settings = {} }: RedisServerOptions): Promise<RedisServer> {
  const all = {
    port: String(port),
    bind: '127.0.0.1',
    dir: folder,
    'maxmemory-policy': 'noeviction',
    save: '',
    ...settings,
  }
  const parameters = Object.entries(all).flatMap(([name, value]) => [`--${name}`, value])
  // Its shell waits for the end of its input, which comes when this process ends, even if it was killed.
  const script = `redis-server "$@" & server=$!; read -r word; kill "\${word:--TERM}" "$server"; wait "$server"`
  const child = spawn('/bin/sh', ['-c', script, 'heddle-test-redis', ...parameters], {
    cwd: folder,
    detached: true,
    // Its shell would report on standard error that the server was killed.
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.stdin.on('error', () => {})
  const end = async (word: string) => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.stdin.end(word)
    await exited
  }
  await untilReady(child)
  return { url: `redis://127.0.0.1:${port}`, kill: () => end('-KILL\n'), stop: () => end('') }
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
      // Its further output is not used, but the pipe must be drained.
      child.stdout?.removeAllListeners('data').resume()
      resolve()
    })
    child.once('exit', () => {
      clearTimeout(timer)
      fail('has ended')
    })
  })
}

/** A port that nothing listens on. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => (typeof address === 'object' && address !== null ? resolve(address.port) : reject()))
    })
  })
}
