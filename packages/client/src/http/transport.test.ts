import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createClient } from './index.js'

interface Sent {
  readonly url: string
  readonly init: RequestInit
}

/** A gateway that answers requests with a list of answers in order; an error is a broken connection. */
function answering(...answers: (Response | Error)[]) {
  const sent: Sent[] = []
  const send = (async (url: URL, init: RequestInit) => {
    sent.push({ url: String(url), init })
    const next = answers.shift()
    if (next === undefined) throw new TypeError('no answer is left')
    if (next instanceof Error) throw next
    return next
  }) as typeof fetch
  return { client: createClient({ url: 'http://heddle.example/in/', key: 'hdl_k', fetch: send }), sent }
}

const stored = () => Response.json({ threadId: 't', stored: 1, repeated: 0 })
const problem = (status: number, code: string, more: object = {}) =>
  Response.json({ code, detail: 'why', status, ...more }, { status })
const messages = [{ role: 'user' as const, content: 'hello' }]

test('an append whose answer was lost is sent again under the same ids, with the key', async () => {
  const { client, sent } = answering(new TypeError('broken'), problem(503, 'SERVICE_UNAVAILABLE'), stored())
  expect(await client.messages.append({ agent: 'coder', thread: 'a/b ü', messages })).toMatchObject({ stored: 1 })
  expect(sent).toHaveLength(3)
  expect(new Set(sent.map(({ init }) => init.body)).size).toBe(1)
  expect(JSON.parse(String(sent[0]?.init.body)).messages[0].id).toMatch(/^[0-9a-f-]{36}$/)
  expect(sent[0]?.url).toBe('http://heddle.example/in/v1/threads/a%2Fb%20%C3%BC/messages')
  expect(sent[0]?.init.headers).toMatchObject({ authorization: 'Bearer hdl_k', prefer: 'wait=30, ids-are-new' })
  // The first attempt may have stored them; the repeat counts them as such.
  expect(sent[1]?.init.headers).toMatchObject({ prefer: 'wait=30' })
})

test('a full queue is waited for, or reported at once if the caller does not wait', async () => {
  const waiting = answering(problem(429, 'RATE_LIMITED', { retryAfter: 0.01 }), stored())
  await waiting.client.messages.append({ agent: 'coder', thread: 'run', messages })
  expect(waiting.sent).toHaveLength(2)
  const failing = answering(problem(429, 'RATE_LIMITED', { retryAfter: 7 }))
  const refused = failing.client.messages.append({ agent: 'coder', thread: 'run', messages, onBusy: 'fail' })
  await expect(refused).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfter: 7, disposition: 'retry' })
})

test('a permanent refusal is not repeated, and is thrown as the original error', async () => {
  const { client, sent } = answering(problem(422, 'BUDGET_TOO_SMALL', { field: 'budget', received: '7' }))
  const refused = client.contexts.build({ thread: 'run' })
  await expect(refused).rejects.toMatchObject({ code: 'BUDGET_TOO_SMALL', field: 'budget', message: 'why' })
  expect(sent).toHaveLength(1)
})

test('a build that may have started is not requested again, but a refused one is', async () => {
  const broken = answering(new TypeError('broken'), problem(504, 'TIMEOUT'))
  await expect(broken.client.contexts.build({ thread: 'run' })).rejects.toMatchObject({ code: 'TIMEOUT' })
  expect(broken.sent).toHaveLength(2)
})

test('a silent gateway is given up at the deadline, and each attempt asks it to wait for the remaining time', async () => {
  const asked: unknown[] = []
  const silent = (async (_url: URL, { headers, signal }: RequestInit) => {
    asked.push(new Headers(headers).get('prefer'))
    if (asked.length === 1) return problem(429, 'RATE_LIMITED', { retryAfter: 0.3 })
    return await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
  }) as typeof fetch
  const client = createClient({ url: 'http://heddle.example', fetch: silent })
  const startMs = performance.now()
  const ended = client.contexts.build({ thread: 'run' }, { deadlineMs: 1_200 })
  await expect(ended).rejects.toMatchObject({ code: 'TIMEOUT' })
  expect(performance.now() - startMs).toBeLessThan(5_000)
  expect(asked).toEqual(['wait=2', 'wait=1'])
})

test('a clear and a save whose answers were lost are repeated under the same keys', async () => {
  const done = () => Response.json({})
  const { client, sent } = answering(new TypeError('broken'), done(), new TypeError('broken'), done())
  await client.agents.clear('coder', { idempotencyKey: 'mine' })
  await client.snapshots.save({ agent: 'coder' })
  const keys = sent.map(({ init }) => new Headers(init.headers).get('idempotency-key'))
  expect(keys).toEqual(['mine', 'mine', expect.any(String), keys[2]])
})

test('a save sends the wait of its caller, if there is one', async () => {
  const snapshot = () => Response.json({})
  const { client, sent } = answering(snapshot(), snapshot())
  await client.snapshots.save({ agent: 'coder' }, { deadlineMs: 90_000 })
  await client.snapshots.save({ agent: 'coder' })
  expect(sent.map(({ init }) => new Headers(init.headers).get('prefer'))).toEqual(['wait=90', null])
})

test('a deadline may be fractional, and an invalid one is refused before anything is sent', async () => {
  const { client, sent } = answering(stored())
  const options = { agent: 'coder', thread: 'run', messages }
  expect(await client.messages.append({ ...options, deadlineMs: 1_000.5 })).toMatchObject({ stored: 1 })
  for (const deadlineMs of [-1, 0, Number.NaN, 600_001]) {
    const refused = client.contexts.build({ thread: 'run' }, { deadlineMs })
    const ordered = client.contexts.order({ thread: 'run' }, { deadlineMs })
    await expect(ordered).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'deadlineMs' })
    await expect(refused).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'deadlineMs' })
  }
  await expect(client.messages.append(undefined as never)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
  expect(sent).toHaveLength(1)
})

test('foreign answers of a proxy, and a missing answer, count as an unavailable server', async () => {
  const { client } = answering(new Response('<html>', { status: 502, headers: { 'retry-after': '9' } }))
  const options = { agent: 'coder', thread: 'run', messages, onBusy: 'fail' as const }
  await expect(client.messages.append(options)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfter: 9 })
  await expect(client.messages.append(options)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
})

test('an aborted call throws the reason of its signal', async () => {
  const { client } = answering(problem(429, 'RATE_LIMITED', { retryAfter: 20 }))
  const signal = AbortSignal.abort(new Error('enough'))
  await expect(client.contexts.build({ thread: 'run' }, { signal })).rejects.toThrow('enough')
})

test.each([
  'http://heddle.example',
  'http://heddle.example/',
  'http://heddle.example/v1',
  'http://heddle.example/v1/',
  'http://heddle.example//',
])('the gateway is found at %s', async (url) => {
  const urls: string[] = []
  const send = (async (asked: URL) => {
    urls.push(String(asked))
    return stored()
  }) as typeof fetch
  await createClient({ url, fetch: send }).messages.append({ agent: 'coder', thread: 'run', messages })
  await createClient({ url: url.replace('example', 'example/in/v10'), fetch: send }).threads.get('run')
  expect(urls).toEqual(['http://heddle.example/v1/threads/run/messages', 'http://heddle.example/in/v10/v1/threads/run'])
})

test('an invalid URL is refused at once', () => {
  for (const url of ['heddle', 'ftp://heddle', '']) {
    expect(() => createClient({ url })).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR', field: 'url' }))
  }
})

const stream = (...lines: string[]) => new Response(lines.map((line) => `${line}\n\n`).join(''))
const event = (number: number) => {
  const id = '0b7a2b0e-0000-4000-8000-000000000000'
  const data = { projectId: id, number, topic: 'message.stored', threadId: id, subjectId: null, headSeq: 1 }
  return `id: ${number}\nevent: message.stored\ndata: ${JSON.stringify(data)}`
}

test('a stream closed by its reader and the server at once does not wait to be reopened', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { client, sent } = answering(stream(event(7)))
  const ending = new AbortController()
  for await (const { number } of await client.events.follow({ signal: ending.signal })) {
    expect(number).toBe(7)
    ending.abort()
  }
  expect(sent).toHaveLength(1)
}, 2_000)

test('a broken stream is reopened with the latest number, also before its first event', async () => {
  const { client, sent } = answering(
    stream('retry: 2000\nid: 4'),
    new TypeError('broken'),
    stream('retry: 2000', ': still here', event(5), event(6)),
    stream(event(7)),
  )
  const ending = new AbortController()
  const numbers: number[] = []
  for await (const { number } of await client.events.follow({ signal: ending.signal, thread: 'run' })) {
    numbers.push(number)
    if (numbers.length === 3) ending.abort()
  }
  expect(numbers).toEqual([5, 6, 7])
  const lastIds = sent.map(({ init }) => (init.headers as Record<string, string>)['last-event-id'])
  expect(lastIds).toEqual([undefined, '4', '4', '6'])
})

test('its imports lead to no database driver and no queue', () => {
  const found = new Set<string>()
  const seen = new Set<string>()
  const visit = (file: string) => {
    if (seen.has(file)) return
    seen.add(file)
    const source = readFileSync(file, 'utf8')
    // Type imports do not exist at run time.
    const imports = source.matchAll(/^(?:import|export) (?!type )[^;]*?from '([^']+)'|import\('([^']+)'\)/gm)
    for (const [, from = '', dynamic = ''] of imports) {
      const name = from || dynamic
      if (name.startsWith('.')) visit(resolve(dirname(file), name.replace(/\.js$/, '.ts')))
      else found.add(name)
    }
  }
  visit(fileURLToPath(new URL('./index.ts', import.meta.url)))
  expect(seen.size).toBeGreaterThan(6)
  expect([...found].sort()).toEqual(['#send', '@heddle/contracts', 'uuid', 'zod'])
})
