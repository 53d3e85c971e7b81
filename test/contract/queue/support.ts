import { randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import type { IngestJob, StageName } from '@heddle/contracts'
import {
  type DeadLetter,
  openQueues,
  type Queues,
  type Settled,
  type WorkerHandle,
  type WorkerOptions,
} from '@heddle/queue'
import { createLogger, type Logger } from '@heddle/runtime'
import { freshPrefix, QUEUE_PREFIX, type TestBackend } from '@heddle/test-support'
import {
  askRedis,
  emptyQueues,
  onPostgres,
  onRedis,
  type QueuePlace,
  queueSchema,
} from '@heddle/test-support/servers/queue-server'
import { openTcpProxy, type TcpProxy } from '@heddle/test-support/servers/tcp-proxy'
import { onTestFinished } from 'vitest'
import { log, shortLocks } from './process-support.js'

export { emptyQueues, log, type QueuePlace, shortLocks }

/** A server and a prefix for one test. */
export async function freshPlace(open: TestBackend['open']): Promise<QueuePlace> {
  const { kind, url, drop } = await open()
  onTestFinished(drop)
  return { backend: { kind, url }, prefix: kind === 'postgres' ? QUEUE_PREFIX : freshPrefix() }
}

/** Queues as in one process; a test can open several with the same prefix. */
export async function queuesAt(place: QueuePlace, ownLog: Logger = log): Promise<Queues> {
  const queues = await openQueues({ ...place, log: ownLog, create: true })
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
  /** Resolves with the first ended attempts, once there are this many. */
  whenSettled(count: number): Promise<Settled[]>
}

type TestWorkerOptions<Name extends StageName> = Pick<WorkerOptions<Name>, 'stage' | 'handler'> &
  Partial<WorkerOptions<Name>> & { readonly queues: Queues }

export async function startWorker<Name extends StageName>(options: TestWorkerOptions<Name>): Promise<TestWorker> {
  const letters: DeadLetter[] = []
  const settled: Settled[] = []
  const watchers = new Set<() => void>()
  const handle = await options.queues.defineWorker<Name>({
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

/** A proxy that is closed at the end of the test. */
export async function proxyTo(target: string): Promise<TcpProxy> {
  const proxy = await openTcpProxy(target)
  onTestFinished(() => proxy.stop())
  return proxy
}

/** A possible remainder of an outage: the deduplication key of wake-ups, without its job. */
export async function strayKey({ backend, prefix }: QueuePlace, stage: StageName, threadId: string): Promise<void> {
  if (backend.kind === 'redis') {
    // A time to live keeps BullMQ's own repair from seeing it.
    await onRedis(backend.url, ['SET', `${prefix}:heddle-${stage}:de:${stage}-${threadId}`, 'gone', 'EX', '3600'])
  } else {
    const schema = queueSchema(prefix)
    const expireAtMs = Date.now() + 3_600_000
    await onPostgres(
      backend.url,
      `INSERT INTO "${schema}".dedup (queue, dedup_id, job_id, expire_at_ms)
       VALUES ('heddle-${stage}', '${stage}-${threadId}', 'gone', ${expireAtMs})`,
    )
  }
}

/** Makes every job of a stage look as if this many workers had died on it. */
export async function markStalled({ backend, prefix }: QueuePlace, stage: StageName, count: number): Promise<void> {
  if (backend.kind === 'redis') {
    const script = `for _, id in ipairs(redis.call('lrange', ARGV[1] .. 'wait', 0, -1)) do
      redis.call('hset', ARGV[1] .. id, 'stc', ARGV[2]) end return 'OK'`
    await onRedis(backend.url, ['EVAL', script, '0', `${prefix}:heddle-${stage}:`, String(count)])
  } else {
    const schema = queueSchema(prefix)
    await onPostgres(backend.url, `UPDATE "${schema}".job SET stalled_count = ${count} WHERE queue = 'heddle-${stage}'`)
  }
}

interface LogLine {
  /** As numbers: 40 is a warning. */
  readonly level: number
  readonly msg: string
  readonly hint?: string
  readonly error?: { readonly message: string }
}

/** A log whose lines a test reads. */
export function capturingLog(): { log: Logger; lines(): LogLine[] } {
  let text = ''
  const destination = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk)
      done()
    },
  })
  const lines = () =>
    text
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as LogLine)
  return { log: createLogger({ level: 'info', name: 'captured', destination }), lines }
}

export async function infoOf(url: string, section: string): Promise<string> {
  return await askRedis(url, ['INFO', section])
}

/** Commands that a full Redis has refused so far. */
export async function refusedByRedis(url: string): Promise<number> {
  return Number(/^errorstat_OOM:count=(\d+)/m.exec(await infoOf(url, 'errorstats'))?.[1] ?? 0)
}
