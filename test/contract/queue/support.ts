import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { IngestJob, StageName } from '@heddle/contracts'
import {
  type DeadLetter,
  defineWorker,
  openQueues,
  type Queues,
  type Settled,
  type WorkerHandle,
  type WorkerOptions,
} from '@heddle/queue'
import { freshPrefix, type TestBackend } from '@heddle/test-support'
import postgres from 'postgres'
import { onTestFinished } from 'vitest'
import { log, shortLocks } from './process-support.js'

export { log, shortLocks }

export interface Place {
  backend: { kind: 'postgres' | 'redis'; url: string }
  prefix: string
}

/** A server and a prefix of the test's own. */
export async function freshPlace(open: TestBackend['open']): Promise<Place> {
  const { kind, url, drop } = await open()
  onTestFinished(drop)
  return { backend: { kind, url }, prefix: freshPrefix() }
}

/** Queues as one process would have them; a test may open several at one place. */
export async function queuesAt(place: Place): Promise<Queues> {
  const queues = await openQueues({ ...place, log })
  onTestFinished(() => queues.close({ timeoutMs: 0 }))
  return queues
}

export async function freshQueues(open: TestBackend['open']): Promise<Queues> {
  return queuesAt(await freshPlace(open))
}

export interface TestWorker {
  handle: WorkerHandle
  letters: DeadLetter[]
  settled: Settled[]
  /** Resolves with the first tries that ended, once there are so many. */
  whenSettled(count: number): Promise<Settled[]>
}

type TestWorkerOptions<Name extends StageName> = Pick<WorkerOptions<Name>, 'stage' | 'queues' | 'handler'> &
  Partial<WorkerOptions<Name>>

export async function startWorker<Name extends StageName>(options: TestWorkerOptions<Name>): Promise<TestWorker> {
  const letters: DeadLetter[] = []
  const settled: Settled[] = []
  const watchers = new Set<() => void>()
  const handle = await defineWorker<Name>({
    log,
    recordDeadLetter: async (letter) => void letters.push(letter),
    ...options,
  })
  handle.onSettled((end) => {
    settled.push(end)
    for (const watcher of watchers) watcher()
  })
  onTestFinished(() => handle.close({ timeoutMs: 0 }))
  return {
    handle,
    letters,
    settled,
    whenSettled: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (settled.length < count) return
          watchers.delete(look)
          resolve(settled.slice(0, count))
        }
        watchers.add(look)
        look()
      }),
  }
}

export function ingestJob(changes: Partial<IngestJob> = {}): IngestJob {
  const message = { id: randomUUID(), role: 'user' as const, content: 'Hello' }
  return {
    projectId: randomUUID(),
    requestId: randomUUID(),
    agent: 'agent',
    thread: 'thread',
    messages: [{ message, ordinal: 0, orderedAt: '2026-02-12T14:30:00.000Z' }],
    ...changes,
  }
}

export function someThread(): { projectId: string; threadId: string } {
  return { projectId: randomUUID(), threadId: randomUUID() }
}

/** A promise with its handles, and a way to see that something has happened. */
export function gate<T = void>(): { promise: Promise<T>; open: (value: T) => void } {
  let open: (value: T) => void = () => {}
  const promise = new Promise<T>((resolve) => {
    open = resolve
  })
  return { promise, open }
}

export interface Proxy {
  url: string
  /** Cuts every connection and takes no new ones. */
  stop(): Promise<void>
  start(): Promise<void>
}

/** Stands between a client and a server, so that a test can take the server away without harm to others. */
export async function proxyTo(target: string): Promise<Proxy> {
  const url = new URL(target)
  const targetPort = Number(url.port || (url.protocol.startsWith('redis') ? 6379 : 5432))
  const targetHost = url.hostname
  const sockets = new Set<Socket>()
  const server = createServer((incoming) => {
    const outgoing = connect(targetPort, targetHost)
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        incoming.destroy()
        outgoing.destroy()
      })
    }
    incoming.pipe(outgoing).pipe(incoming)
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      for (const socket of sockets) socket.destroy()
    })
  await listen(0)
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  url.hostname = '127.0.0.1'
  url.port = String(address.port)
  onTestFinished(stop)
  return { url: url.href, stop, start: () => listen(address.port) }
}

/** What a flushed Redis or a truncated schema looks like to those who are connected. */
export async function emptyQueues({ backend, prefix }: Place): Promise<void> {
  if (backend.kind === 'redis') {
    const script = "for _, key in ipairs(redis.call('keys', ARGV[1])) do redis.call('unlink', key) end return 'OK'"
    await onRedis(backend.url, ['EVAL', script, '0', `${prefix}:*`])
  } else {
    const tables = ['job', 'dedup', 'dedup_next', 'meta', 'event']
    const schema = `${prefix.replaceAll('-', '_')}_queue`
    await onPostgres(backend.url, `TRUNCATE ${tables.map((table) => `"${schema}".${table}`).join(', ')} CASCADE`)
  }
}

/** What an outage may leave: the key that holds back double wakes, without its job. */
export async function strayKey({ backend, prefix }: Place, stage: StageName, threadId: string): Promise<void> {
  if (backend.kind === 'redis') {
    // A time to live keeps BullMQ's own repair from seeing it.
    await onRedis(backend.url, ['SET', `${prefix}:heddle-${stage}:de:${stage}-${threadId}`, 'gone', 'EX', '3600'])
  } else {
    const schema = `${prefix.replaceAll('-', '_')}_queue`
    const expireAtMs = Date.now() + 3_600_000
    await onPostgres(
      backend.url,
      `INSERT INTO "${schema}".dedup (queue, dedup_id, job_id, expire_at_ms)
       VALUES ('heddle-${stage}', '${stage}-${threadId}', 'gone', ${expireAtMs})`,
    )
  }
}

/** One command, in Redis's own protocol: the driver belongs to the package under test. */
async function onRedis(url: string, command: readonly string[]): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port || 6379), hostname)
  const parts = command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`)
  socket.write(`*${command.length}\r\n${parts.join('')}`)
  const [answer] = await once(socket, 'data')
  socket.destroy()
  if (!/^[+:]|^\$2\r\nOK/.test(String(answer))) throw new Error(`Redis said ${answer}`)
}

async function onPostgres(url: string, statement: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    await sql.unsafe(statement)
  } finally {
    await sql.end()
  }
}

/** Makes every job of a stage look as if so many workers had died over it. */
export async function markStalled({ backend, prefix }: Place, stage: StageName, count: number): Promise<void> {
  if (backend.kind === 'redis') {
    const script = `for _, id in ipairs(redis.call('lrange', ARGV[1] .. 'wait', 0, -1)) do
      redis.call('hset', ARGV[1] .. id, 'stc', ARGV[2]) end return 'OK'`
    await onRedis(backend.url, ['EVAL', script, '0', `${prefix}:heddle-${stage}:`, String(count)])
  } else {
    const schema = `${prefix.replaceAll('-', '_')}_queue`
    await onPostgres(backend.url, `UPDATE "${schema}".job SET stalled_count = ${count} WHERE queue = 'heddle-${stage}'`)
  }
}
