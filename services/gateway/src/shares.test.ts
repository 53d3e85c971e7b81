import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { Client } from '@heddle/client/interface'
import { RetryableError } from '@heddle/contracts'
import type { ShareRequest } from '@heddle/queue'
import { createLogger } from '@heddle/runtime'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../test/support/src/manual-clock.js'
import type { Backend } from './backend.js'
import { startGateway } from './gateway.js'
import { tools } from './mcp/tools.js'

const CROWD = 12
/** Slots of one project beside another one under light load. */
const SLOTS = 4

/** A client whose calls the test resolves by hand. */
class HeldCalls {
  readonly begun: string[] = []
  readonly #ending: (() => void)[] = []
  #onBegun = () => {}

  hold(project: string, result: object): Promise<object> {
    this.begun.push(project)
    this.#onBegun()
    if (project === 'quiet') return Promise.resolve(result)
    return new Promise((resolve) => this.#ending.push(() => resolve(result)))
  }

  /** Waits until the noisy project has started `count` calls in total. */
  async until(count: number): Promise<void> {
    while (this.of('noisy') < count) await new Promise<void>((resolve) => (this.#onBegun = resolve))
  }

  of(project: string): number {
    return this.begun.filter((each) => each === project).length
  }

  endOne(): void {
    this.#ending.shift()?.()
  }

  endAll(): void {
    for (const end of this.#ending.splice(0)) end()
  }
}

async function withGateway(
  work: (served: {
    url: string
    port: number
    calls: HeldCalls
    shares: string[]
    admitted: ShareRequest['admitted'][]
  }) => Promise<void>,
  limits = { requestsMax: 50, bytesMax: 1_000_000 },
): Promise<void> {
  const calls = new HeldCalls()
  const shares: string[] = []
  const admitted: ShareRequest['admitted'][] = []
  const backend: Backend = {
    clientOf: (project) => clientOf(project, calls),
    keys: { read: async (key) => ({ project: key, role: 'admin' }), hasAny: async () => true },
    checkShare: (project, share) => {
      shares.push(`${project} ${share.stage}`)
      admitted.push(share.admitted)
      if (project === 'noisy') throw new RetryableError('RATE_LIMITED', 'it has its share', { retryAfter: 1 })
    },
    readStageStats: async () => [],
    examine: async () => [],
    readModelCalls: () => new Map(),
    checkReady: async () => undefined,
  }
  const gateway = await startGateway({
    port: 0,
    project: 'tests',
    identity: {},
    log: createLogger({ level: 'silent', name: 'test' }),
    clock: new ManualClock(),
    projectLimits: limits,
    backend: () => backend,
  })
  try {
    await work({ url: gateway.url, port: gateway.port, calls, shares, admitted })
  } finally {
    calls.endAll()
    await gateway.close()
  }
}

function clientOf(project: string, calls: HeldCalls): Client {
  const held = (result: object) => () => calls.hold(project, result)
  const page = held({ items: [], nextCursor: null })
  return {
    recall: held({ content: '' }),
    search: held({ items: [] }),
    messages: { list: page, append: held({}) },
    contexts: { list: page, build: held({}) },
    archive: { list: page, search: held({ items: [] }) },
    threads: { list: page },
    agents: { list: page },
    events: {
      follow: async ({ signal, inTurn }: Parameters<Client['events']['follow']>[0]) => ({
        async *[Symbol.asyncIterator]() {
          yield* []
          await inTurn?.(() => calls.hold(project, {}), signal).catch(() => undefined)
          if (!signal.aborted) await once(signal, 'abort')
        },
      }),
    },
  } as unknown as Client
}

const headersOf = (key: string) => ({
  authorization: `Bearer ${key}`,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
})

function toolCall(name: string, given: object, id = 1) {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: given } }
}

const doors: readonly [name: string, method: string, path: string, body?: object][] = [
  ['a recall', 'POST', '/v1/recall', { ref: 'msg-1a2b3c4d' }],
  ['a search', 'POST', '/v1/search', { query: 'words' }],
  ['a page of history', 'GET', '/v1/threads/run/messages'],
  ['a list of contexts', 'GET', '/v1/threads/run/contexts'],
  ['a search of the archive', 'POST', '/v1/archive/search', { query: 'words' }],
  ['a recall over MCP', 'POST', '/mcp', toolCall('recall', { ref: 'msg-1a2b3c4d' })],
  ['a search over MCP', 'POST', '/mcp', toolCall('search', { query: 'words' })],
  ['a page of history over MCP', 'POST', '/mcp', toolCall('history', { thread: 'run' })],
  [
    'a resource of MCP',
    'POST',
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'heddle://recall/msg-1' } },
  ],
]

test.each(doors)(
  '%s waits in the queue of its own project, and never behind requests of another',
  async (_name, method, path, body) => {
    await withGateway(async ({ url, calls }) => {
      const ask = (key: string) =>
        fetch(`${url}${path}`, { method, headers: headersOf(key), ...(body && { body: JSON.stringify(body) }) })
      await ask('quiet')
      const flood = Array.from({ length: CROWD }, () => ask('noisy'))
      await calls.until(SLOTS)
      // All requests of the flood arrived earlier and are queued.
      expect((await ask('quiet')).status).toBeLessThan(500)
      expect(calls.of('noisy')).toBe(SLOTS)
      for (let begun = SLOTS; begun < CROWD; begun = calls.of('noisy')) {
        calls.endAll()
        await calls.until(begun + 1)
        if (begun === SLOTS) expect(calls.of('noisy')).toBe(SLOTS + 1)
      }
      calls.endAll()
      await Promise.all(flood.map(async (asked) => await (await asked).arrayBuffer()))
      expect(calls.of('noisy')).toBe(CROWD)
    })
  },
)

test('calls of one MCP batch run one after the other, in one slot', async () => {
  await withGateway(async ({ url, calls }) => {
    const batch = Array.from({ length: 4 }, (_, id) => toolCall('search', { query: 'words' }, id + 1))
    const asked = fetch(`${url}/mcp`, { method: 'POST', headers: headersOf('noisy'), body: JSON.stringify(batch) })
    for (let done = 1; done <= batch.length; done++) {
      await calls.until(done)
      expect(calls.of('noisy')).toBe(done)
      calls.endOne()
    }
    expect(await (await asked).json()).toHaveLength(batch.length)
  })
})

test('each call of an MCP batch counts against the running requests of its project', async () => {
  await withGateway(
    async ({ url, calls }) => {
      const batch = Array.from({ length: 5 }, (_, id) => toolCall('search', { query: 'words' }, id + 1))
      const asked = await fetch(`${url}/mcp`, {
        method: 'POST',
        headers: headersOf('noisy'),
        body: JSON.stringify(batch),
      })
      expect([asked.status, asked.headers.get('retry-after')]).toEqual([429, '1'])
      expect(await asked.json()).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 1 })
      expect(calls.of('noisy')).toBe(0)
    },
    { requestsMax: 4, bytesMax: 1_000_000 },
  )
})

test('tools whose work is done by workers are refused when the project has used up its share of them', async () => {
  await withGateway(async ({ url, calls, shares }) => {
    const given = { agent: 'a', thread: 'run', messages: [{ role: 'user', content: 'hello' }] }
    const refusals = []
    for (const body of [toolCall('build_context', { thread: 'run' }), toolCall('append_messages', given)]) {
      const asked = await fetch(`${url}/mcp`, {
        method: 'POST',
        headers: headersOf('noisy'),
        body: JSON.stringify(body),
      })
      refusals.push(await asked.json())
    }
    const text = expect.stringMatching(/^RATE_LIMITED: [\s\S]*may work after 1 s/)
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ result: { isError: true, content: [{ type: 'text', text }] } })
    }
    expect(shares).toEqual(['noisy assemble', 'noisy ingest'])
    expect(calls.of('noisy')).toBe(0)
  })
})

test('appends whose bodies are still arriving count against the limit of their project', async () => {
  await withGateway(async ({ port, url, admitted }) => {
    const path = '/v1/threads/run/messages'
    const headers = { ...headersOf('quiet'), 'content-length': 1_000, expect: '100-continue' }
    const arriving = request({ host: '127.0.0.1', port, method: 'POST', path, headers })
    arriving.on('error', () => undefined)
    arriving.flushHeaders()
    await once(arriving, 'continue')
    const body = JSON.stringify({ agent: 'a', messages: [{ role: 'user', content: 'hello' }] })
    const append = () => fetch(`${url}${path}`, { method: 'POST', headers: headersOf('quiet'), body })
    for (let each = 0; each < 2; each++) await (await append()).arrayBuffer()
    arriving.destroy()
    const [none, one] = [
      { jobs: 0, bytes: 0 },
      { jobs: 1, bytes: 1_000 },
    ]
    expect(admitted).toEqual([none, one, one])
  })
})

test('a page of history over MCP holds as many messages as fit twice, and its cursor continues after them', async () => {
  const asked: (number | undefined)[] = []
  const items = Array.from({ length: 5 }, (_, index) => ({ id: `m${index}`, content: 'x'.repeat(900_000) }))
  const list = async ({ limit = items.length }: { limit?: number }) => {
    asked.push(limit)
    return { items: items.slice(0, limit), nextCursor: limit < items.length ? `after-${limit}` : null }
  }
  const history = tools.find(({ name }) => name === 'history')
  const rights = { role: 'read' as const }
  const client = { messages: { list } } as unknown as Client
  const deps = { client, rights, signal: AbortSignal.timeout(30_000), session: {} }
  const page = await history?.call({ thread: 'run' }, deps)
  expect(page).toMatchObject({ items: [{ id: 'm0' }, { id: 'm1' }], nextCursor: 'after-2' })
  items[0] = { id: 'm0', content: 'x'.repeat(3_000_000) }
  expect(await history?.call({ thread: 'run' }, deps)).toMatchObject({ items: [{ id: 'm0' }], nextCursor: 'after-1' })
  expect(asked.filter((limit) => limit === 1 || limit === 2)).toEqual([2, 1])
})

async function openStream(port: number, key: string) {
  const asked = request({ host: '127.0.0.1', port, path: '/v1/events', headers: headersOf(key) })
  asked.on('error', () => undefined)
  asked.end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  return { status: response.statusCode, retryAfter: response.headers['retry-after'], close: () => asked.destroy() }
}

test('event streams of one project leave capacity to others', async () => {
  await withGateway(async ({ port }) => {
    const streams = await Promise.all(Array.from({ length: 60 }, () => openStream(port, 'noisy')))
    const refused = streams.filter(({ status }) => status === 429)
    expect([streams.length - refused.length, refused.length]).toEqual([50, 10])
    expect(refused.every(({ retryAfter }) => retryAfter === '5')).toBe(true)
    const quiet = await openStream(port, 'quiet')
    expect(quiet.status).toBe(200)
    for (const { close } of [...streams, quiet]) close()
  })
})

test('event streams of one project read the log one at a time while another project has streams', async () => {
  await withGateway(async ({ port, calls }) => {
    const streams = [await openStream(port, 'quiet')]
    for (let each = 0; each < CROWD; each++) streams.push(await openStream(port, 'noisy'))
    await calls.until(2)
    expect(calls.of('noisy')).toBe(2)
    streams.push(await openStream(port, 'quiet'))
    expect(calls.of('quiet')).toBe(2)
    calls.endAll()
    await calls.until(3)
    expect(calls.of('noisy')).toBe(3)
    for (const { close } of streams) close()
  })
})
