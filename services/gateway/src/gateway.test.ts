import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { Writable } from 'node:stream'
import type { Client } from '@heddle/client/interface'
import { RetryableError } from '@heddle/contracts'
import { createLogger, type Logger } from '@heddle/runtime'
import { expect, test } from 'vitest'
import type { Backend } from './backend.js'
import { type Gateway, type GatewayOptions, startGateway } from './gateway.js'

const silent = createLogger({ level: 'silent', name: 'test' })

async function withGateway(options: Partial<GatewayOptions>, work: (gateway: Gateway) => Promise<void>): Promise<void> {
  const gateway = await startGateway({
    port: 0,
    project: 'tests',
    identity: { pid: 7 },
    log: silent,
    backend: () => null,
    ...options,
  })
  try {
    await work(gateway)
  } finally {
    await gateway.close()
  }
}

/** A backend whose client implements only the methods that a test needs. */
function backendWith(client: object): () => Backend {
  return () => ({
    clientOf: () => client as Client,
    keys: { read: async () => null, hasAny: async () => false },
    checkShare: () => {},
    readStageStats: async () => [],
    examine: async () => [],
    readModelCalls: () => new Map(),
    checkReady: async () => undefined,
  })
}

test('a gateway that is still starting answers 503 with a time to retry', async () => {
  await withGateway({}, async ({ url }) => {
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    for (const path of ['/readyz', '/v1/agents', '/v1/events']) {
      const response = await fetch(`${url}${path}`)
      expect([path, response.status, response.headers.get('retry-after')]).toEqual([path, 503, '1'])
      expect(await response.json()).toMatchObject({ code: 'SERVICE_UNAVAILABLE', detail: 'Heddle is still starting' })
    }
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('heddle_queues_readable 0')
  })
})

test('the error names a port that is in use', async () => {
  await withGateway({}, async ({ port }) => {
    const second = withGateway({ port }, async () => undefined)
    await expect(second).rejects.toMatchObject({ code: 'CONFLICT', field: 'port', received: String(port) })
  })
})

test('closing ends streams, finishes running requests and accepts no new ones', async () => {
  const asked = deferred<void>()
  const answer = deferred<object>()
  const agents = {
    get: () => {
      asked.resolve()
      return answer.promise
    },
  }
  const events = { follow: async ({ signal }: { signal: AbortSignal }) => untilAborted(signal) }
  await withGateway({ backend: backendWith({ agents, events }) }, async (gateway) => {
    const stream = await fetch(`${gateway.url}/v1/events`)
    const slow = fetch(`${gateway.url}/v1/agents/coder`)
    await asked.promise
    const drained = gateway.drain()
    expect(await stream.text()).toBe('retry: 2000\n\n')
    expect((await fetch(`${gateway.url}/v1/agents`)).status).toBe(503)
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
    answer.resolve({ name: 'coder', createdAt: '', lastClearedAt: null })
    expect((await slow).status).toBe(200)
    await drained
  })
})

function deferred<T>(): { promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((resolvePromise) => {
    resolve = resolvePromise
  })
  return { promise, resolve }
}

async function* untilAborted(signal: AbortSignal): AsyncGenerator<never> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

test('bodies above the limit of the process are refused before they are read, and the capacity is released', async () => {
  await withGateway({ backend: backendWith({}) }, async ({ url, port }) => {
    const path = '/v1/threads/run/messages'
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked', expect: '100-continue' }
    const open = Array.from({ length: 8 }, () => request({ host: '127.0.0.1', port, method: 'POST', path, headers }))
    await Promise.all(
      open.map((each) =>
        once(
          each.on('error', () => undefined),
          'continue',
        ),
      ),
    )
    const append = () => fetch(`${url}${path}`, { method: 'POST', body: '{}' })
    const refused = await append()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    for (const each of open) each.destroy()
    await expect.poll(async () => (await append()).status).toBe(415)
  })
})

test('durations of job attempts are shown by stage and outcome', async () => {
  await withGateway({}, async ({ url, recordTry }) => {
    recordTry({ stage: 'prune', jobId: 'j1', attempt: 1, result: 'done', durationMs: 30 })
    recordTry({ stage: 'prune', jobId: 'j1', attempt: 2, result: 'dead', durationMs: 40 })
    const metrics = await (await fetch(`${url}/metrics`)).text()
    expect(metrics).toContain('heddle_stage_duration_seconds_sum{stage="prune",result="done"} 0.03')
    expect(metrics).toContain('heddle_stage_duration_seconds_count{stage="prune",result="dead"} 1')
  })
})

test('logs contain no request content, no names and no content quoted by errors', async () => {
  const lines: string[] = []
  const destination = new Writable({
    write(line, _encoding, next) {
      lines.push(String(line))
      next()
    },
  })
  const log: Logger = createLogger({ level: 'trace', name: 'test', destination })
  const client = { agents: { put: async (name: string) => ({ name, createdAt: '', lastClearedAt: null }) } }
  await withGateway({ log, backend: backendWith(client) }, async ({ url }) => {
    const put = (body: string) =>
      fetch(`${url}/v1/agents/swordfish`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json', authorization: 'Bearer swordfish', 'x-request-id': 'r-17' },
        body,
      })
    for (const body of ['{"systemPrompt":"swordfish"}', '{"swordfish":1}', '"swordfish', '{"docs":"swordfish"}']) {
      await (await put(body)).text()
    }
    await (await fetch(`${url}/v1/agents/swordfish`, { method: 'POST' })).text()
    await (await fetch(`${url}/v1/agents?swordfish=swordfish`)).text()
    await (await fetch(`${url}/swordfish`)).text()
  })
  expect(lines.join('')).toContain('"requestId":"r-17"')
  expect(lines.join('')).not.toContain('swordfish')
})

test('unauthorized callers are refused before their bodies are read', async () => {
  await withGateway({ backend: backendWith({}) }, async ({ port }) => {
    const headers = { 'content-type': 'application/json', 'content-length': 50_000_000, authorization: 'Bearer nobody' }
    for (const path of ['/v1/threads/run/messages', '/mcp']) {
      // The body is never sent: a response that waited for it would never arrive.
      const asked = request({ host: '127.0.0.1', port, path, method: 'POST', headers })
      asked.on('error', () => undefined)
      asked.flushHeaders()
      const [response] = await once(asked, 'response')
      expect([path, response.statusCode]).toEqual([path, 401])
      asked.destroy()
    }
  })
})

test('a project that has used up its share is refused without a database query and before its body is read', async () => {
  let lookUps = 0
  const backend: Backend = {
    ...backendWith({})(),
    clientOf: () => {
      throw new TypeError('nothing is to be done for who is refused')
    },
    keys: {
      read: async () => {
        lookUps++
        return { project: 'noisy', role: 'agent' }
      },
      hasAny: async () => true,
    },
    checkShare: (project, { stage, bytes }) => {
      throw new RetryableError('RATE_LIMITED', `${project} ${stage} ${bytes}`, { retryAfter: 1 })
    },
  }
  await withGateway({ backend: () => backend }, async ({ port }) => {
    const headers = { 'content-type': 'application/json', 'content-length': 5_000_000, authorization: 'Bearer noisy' }
    for (const path of ['/v1/threads/run/messages', '/v1/threads/run/contexts']) {
      const asked = request({ host: '127.0.0.1', port, path, method: 'POST', headers })
      asked.on('error', () => undefined)
      asked.flushHeaders()
      const [response] = (await once(asked, 'response')) as [IncomingMessage]
      expect([path, response.statusCode, response.headers['retry-after']]).toEqual([path, 429, '1'])
      asked.destroy()
    }
  })
  expect(lookUps).toBe(1)
})
