import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPipeline, type Pipeline, queueBackends } from '../support.js'
import { openEvents, type Served, serve } from './http-support.js'

const served = queueBackends()

describe.each(served)('over HTTP on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('with all workers running', () => {
    let pipeline: Pipeline
    let http: Served

    beforeAll(async () => {
      pipeline = await openPipeline(mode)
      await pipeline.start()
      http = await serve(pipeline)
    })
    afterAll(async () => {
      await http?.gateway.close()
      await pipeline?.close()
    })

    test('a whole journey works: agent, messages, context, receipt, recall, search, clear, delete', async () => {
      const { ask } = http
      const settings = { budget: 6_000, rollingWindow: null }
      const agent = await ask('PUT', '/v1/agents/coder', { body: { systemPrompt: 'You write code.', settings } })
      expect(agent).toMatchObject({ status: 200, body: { name: 'coder', version: 1, settings } })
      expect((await ask('GET', '/v1/agents/coder')).body).toEqual(agent.body)
      const stale = await ask('PUT', '/v1/agents/coder', { body: { settings: {}, ifVersion: 0 } })
      expect(stale).toMatchObject({ status: 409, body: { code: 'CONFLICT', field: 'ifVersion', received: '0' } })
      const unknown = await ask('PUT', '/v1/agents/coder', { body: { settings: { summarizationProvider: 'acme' } } })
      expect(unknown).toMatchObject({ status: 400, body: { field: 'settings.summarizationProvider' } })
      expect((await ask('GET', '/v1/agents')).body).toMatchObject({ items: [{ name: 'coder' }], nextCursor: null })

      const thread = { agent: 'coder', title: 'A run', goal: 'Ship it', loop: { currentCli: 'codex' } }
      expect((await ask('PUT', '/v1/threads/run%2F1', { body: thread })).body).toMatchObject({ ...thread, version: 1 })
      const running = { status: 'compiling' }
      await ask('PUT', '/v1/threads/run%2F1/processes/build', { body: running })
      const process = (await ask('GET', '/v1/threads/run%2F1/processes/build')).body
      expect(process).toMatchObject({ name: 'build', isRunning: true, ...running })
      expect((await ask('GET', '/v1/threads/run%2F1/processes')).body.items).toEqual([process])

      const messages = conversation(60)
      const path = '/v1/threads/run%2F1/messages'
      const appended = await ask('POST', path, { body: { agent: 'coder', messages } })
      expect(appended).toMatchObject({ status: 200, body: { stored: messages.length, repeated: 0 } })
      await pipeline.client.threads.waitUntilSettled('run/1')
      const page = (await ask('GET', `${path}?limit=2&order=desc`)).body
      expect(page.items[0]).toMatchObject({ id: messages.at(-1)?.id, content: messages.at(-1)?.content })
      const older = (await ask('GET', `${path}?limit=2&order=desc&cursor=${page.nextCursor}`)).body
      expect(older.items[0].seq).toBe(page.items[1].seq - 1)
      expect((await ask('GET', '/v1/threads?agent=coder&limit=1')).body.items).toMatchObject([{ name: 'run/1' }])
      expect((await ask('GET', '/v1/threads/run%2F1')).body.messages).toBe(messages.length)

      const request = { message: 'go on', format: 'openai-chat' }
      const built = await ask('POST', '/v1/threads/run%2F1/contexts', { body: request })
      expect(built.body.messages.at(-1)).toEqual({ role: 'user', content: 'go on' })
      expect(built.body.tokensUsed).toBeLessThanOrEqual(6_000)
      expect((await ask('GET', `/v1/contexts/${built.body.id}`)).body).toEqual(built.body)
      expect((await ask('GET', `/v1/contexts/${built.body.id}/receipt`)).body).toEqual(built.body.receipt)

      const condensed = built.body.receipt.entries.find((entry: { mode: string }) => entry.mode === 'condensed')
      const wanted = { ref: condensed.reference, thread: 'run/1', maxTokens: 100_000 }
      const recalled = await ask('POST', '/v1/recall', { body: wanted })
      expect(recalled.body.content).toBe(messages.find(({ id }) => id === condensed.messageId)?.content)
      const hits = (await ask('POST', '/v1/search', { body: { query: 'part7', thread: 'run/1', limit: 2 } })).body
      expect(hits.items[0]).toMatchObject({ thread: 'run/1', text: expect.stringContaining('part7') })
      const found = (await ask('POST', '/v1/archive/search', { body: { query: 'export function', limit: 3 } })).body
      expect(found.items).toHaveLength(3)
      const listed = (await ask('GET', '/v1/archive?thread=run%2F1&kinds=file_view,bash&path=src&failed=false&limit=2'))
        .body
      expect(listed).toMatchObject({ items: [{ kind: 'file_view' }, { kind: 'file_view' }] })
      const further = `/v1/archive?thread=run%2F1&limit=2&cursor=${listed.nextCursor}`
      expect((await ask('GET', further)).body.items[0].at <= listed.items[1].at).toBe(true)
      expect((await ask('GET', '/v1/archive?path=src/nowhere')).body).toEqual({ items: [], nextCursor: null })
      for (const [query, field] of ['kinds=bash,nonsense', 'failed=1', 'since=once', 'tool=%00'].map((query) => [
        query,
        query.split('=')[0],
      ]))
        expect((await ask('GET', `/v1/archive?${query}`)).body, query).toMatchObject({
          status: 400,
          field: expect.stringContaining(`${field}`),
        })

      const cleared = await ask('POST', '/v1/agents/coder/clear')
      expect(cleared.body).toMatchObject({ agent: 'coder', epoch: 1, threads: 1 })
      const after = await ask('POST', '/v1/threads/run%2F1/contexts', { body: { message: 'and now' } })
      expect(after.body.receipt.eligible).toBe(0)

      const erased = await ask('DELETE', '/v1/threads/run%2F1')
      expect(erased.body).toMatchObject({ kind: 'thread', name: 'run/1', removed: { messages: messages.length } })
      expect((await ask('GET', '/v1/threads/run%2F1')).body).toMatchObject({ status: 404, code: 'NOT_FOUND' })
      const refused = await ask('POST', path, { body: { agent: 'coder', messages: conversation(1) } })
      expect(refused.body).toMatchObject({ status: 409, code: 'CONFLICT' })
    })

    test('a context that was requested without waiting is available later at the returned address', async () => {
      const { ask } = http
      await ask('POST', '/v1/threads/later/messages', { body: { agent: 'patient', messages: conversation(2) } })
      const stream = await openEvents(`${http.url}/v1/events?topics=context.built&thread=later`)
      const ordered = await ask('POST', '/v1/threads/later/contexts', { headers: { prefer: 'respond-async' } })
      expect(ordered).toMatchObject({ status: 202, body: { status: 'requested' } })
      const location = ordered.headers.get('location') ?? ''
      expect(await stream.next()).toMatchObject({ event: 'context.built', data: { subjectId: ordered.body.id } })
      stream.close()
      expect(await ask('GET', location)).toMatchObject({ status: 200, body: { id: ordered.body.id, thread: 'later' } })

      const none = await ask('POST', '/v1/threads/nowhere/contexts', { headers: { prefer: 'respond-async, wait=20' } })
      await expect
        .poll(async () => (await ask('GET', none.headers.get('location') ?? '')).body)
        .toMatchObject({ status: 404, code: 'NOT_FOUND', field: 'thread' })
    })

    test('the same request twice is stored once, by ids or by its Idempotency-Key', async () => {
      const { ask } = http
      const headers = { 'idempotency-key': 'turn-1' }
      const body = { agent: 'coder', messages: [{ role: 'user', content: 'once' }] }
      const path = '/v1/threads/keyed/messages'
      expect((await ask('POST', path, { body, headers })).body).toMatchObject({ stored: 1, repeated: 0 })
      expect((await ask('POST', path, { body, headers })).body).toMatchObject({ stored: 0, repeated: 1 })
      const other = { ...body, messages: [{ role: 'user', content: 'something else' }] }
      expect((await ask('POST', path, { body: other, headers })).body).toMatchObject({ status: 409, code: 'CONFLICT' })
      expect((await ask('POST', path, { body })).body).toMatchObject({ stored: 1 })

      const iterations = { agent: 'coder', iterations: [{ prompt: 'try', output: 'done', progressScore: 0.5 }] }
      const steps = '/v1/threads/keyed/iterations'
      expect((await ask('POST', steps, { body: iterations, headers })).body).toMatchObject({ iterationNumbers: [1] })
      expect((await ask('POST', steps, { body: iterations, headers })).body).toMatchObject({ stored: 0, repeated: 1 })
      expect((await ask('GET', steps)).body.items).toMatchObject([{ iterationNumber: 1, prompt: 'try' }])
    })

    test('a clear and a snapshot that are repeated with their Idempotency-Key happen once', async () => {
      const { ask } = http
      const post = (path: string, body: unknown, key?: string) =>
        ask('POST', path, { body, headers: key === undefined ? {} : { 'idempotency-key': key } })
      const say = (content: string) =>
        post('/v1/threads/once/messages', { agent: 'forgetful', messages: [{ role: 'user', content }] })
      await say('before')
      const [clear, save] = ['/v1/agents/forgetful/clear', '/v1/agents/forgetful/snapshots']
      const cleared = await post(clear, {}, 'fresh')
      expect(cleared.body).toMatchObject({ epoch: 1, threads: 1 })
      await say('after')
      expect((await post(clear, {}, 'fresh')).body).toEqual(cleared.body)
      const shown = (await ask('GET', '/v1/threads/once/messages')).body.items
      expect(shown.map(({ inWindow }: { inWindow: boolean }) => inWindow)).toEqual([false, true])
      const elsewhen = await post(clear, { clearedAt: '2026-01-01T00:00:00.000Z' }, 'fresh')
      expect(elsewhen).toMatchObject({ status: 409, body: { code: 'CONFLICT', field: 'idempotencyKey' } })

      const [saved, atOnce] = await Promise.all([post(save, {}, 'one'), post(save, {}, 'one')])
      expect([saved.status, atOnce.body, (await post(save, {}, 'one')).body]).toEqual([201, saved.body, saved.body])
      expect((await post(save, { description: 'other' }, 'one')).body).toMatchObject({ code: 'CONFLICT' })
      expect((await post(save, {}, 'two')).body.id).not.toBe(saved.body.id)
      expect((await ask('GET', save)).body.items).toHaveLength(2)
      expect((await post(save, {}, ' ')).body).toMatchObject({ status: 400, field: 'idempotency-key' })
      expect((await post(clear, {}, 'next')).body).toMatchObject({ epoch: 2 })
    })

    test('stored ids that a request declares as new are not stored twice or with other content', async () => {
      const path = '/v1/threads/not-so-new/messages'
      const id = randomUUID()
      const send = async (content: string) => {
        const body = { agent: 'coder', messages: [{ id, role: 'user', content }] }
        return (await http.ask('POST', path, { body, headers: { prefer: 'ids-are-new' } })).body
      }
      expect(await send('first')).toMatchObject({ stored: 1 })
      expect(await send('first')).toMatchObject({ repeated: 0 })
      expect(await send('other')).toMatchObject({ status: 409, code: 'CONFLICT', field: 'messages.0.id' })
      expect((await http.ask('GET', path)).body.items).toMatchObject([{ id, content: 'first' }])
    })

    test('a queued append is acknowledged as such, and stored soon', async () => {
      const messages = conversation(3)
      const body = { agent: 'coder', messages, ack: 'queued' }
      expect((await http.ask('POST', '/v1/threads/queued/messages', { body })).status).toBe(202)
      await expect
        .poll(async () => (await http.ask('GET', '/v1/threads/queued')).body.messages, { timeout: 10_000 })
        .toBe(messages.length)
    })

    test('events arrive in the order of their numbers, and a subscriber that reconnects gets each event once', async () => {
      const { ask, url } = http
      const stored = `${url}/v1/events?topics=message.stored&thread=told`
      let head = 0
      const send = async (turns: number) => {
        const messages = conversation(turns)
        await ask('POST', '/v1/threads/told/messages', { body: { agent: 'coder', messages } })
        head += messages.length
      }
      /** All events until that of the thread's head: appends within a moment share one. */
      const readToHead = async (events: Awaited<ReturnType<typeof openEvents>>) => {
        const numbers: number[] = []
        for (let headSeq = 0; headSeq < head; ) {
          const event = await events.next()
          expect(event).toMatchObject({ event: 'message.stored', data: { number: event?.id, topic: 'message.stored' } })
          numbers.push(event?.id ?? 0)
          headSeq = event?.data.headSeq
        }
        return numbers
      }
      const first = await openEvents(stored)
      await send(1)
      const seen = await readToHead(first)
      first.close()

      // No listener is connected now.
      await send(2)
      await send(3)
      const again = await openEvents(stored, { 'last-event-id': String(seen.at(-1)) })
      const missed = await readToHead(again)
      await send(1)
      const numbers = [...seen, ...missed, ...(await readToHead(again))]
      again.close()
      expect(numbers.length).toBeGreaterThanOrEqual(3)
      expect(numbers).toEqual([...new Set(numbers)].sort((left, right) => left - right))

      const all = await openEvents(`${stored}&after=${(seen[0] ?? 0) - 1}`)
      expect(await readToHead(all)).toEqual(numbers)
      all.close()
    })

    test('each refusal is a problem document that names the field and the rule', async () => {
      const { ask } = http
      const problem = async (status: number, method: string, path: string, options?: Parameters<Served['ask']>[2]) => {
        const asked = await ask(method, path, options)
        expect([path, asked.status]).toEqual([path, status])
        return asked
      }
      const message = { role: 'user', content: 'hi' }
      const append = (body: unknown) => problem(400, 'POST', '/v1/threads/run/messages', { body })
      expect((await append({ agent: 'a', messages: [message, { role: 'robot' }] })).body).toMatchObject({
        code: 'VALIDATION_ERROR',
        field: 'messages.1.role',
        received: '"robot"',
      })
      expect((await append({ agent: 'a', messages: [message], extra: 1 })).body.field).toBe('extra')
      expect((await append({ agent: 'a', messages: [] })).body.field).toBe('messages')
      expect((await append(undefined)).body.field).toBe('body')
      expect((await problem(400, 'GET', '/v1/threads?limit=0')).body.field).toBe('limit')
      expect((await problem(400, 'GET', '/v1/threads?limit=501')).body.field).toBe('limit')
      expect((await problem(400, 'GET', '/v1/threads?limit=1&limit=2')).body.field).toBe('limit')
      expect((await problem(400, 'GET', '/v1/threads?page=2')).body.field).toBe('page')
      expect((await problem(400, 'GET', '/v1/contexts/latest')).body.field).toBe('context')
      const oddTopic = (await problem(400, 'GET', '/v1/events?topics=everything')).body
      expect(oddTopic).toMatchObject({ field: 'topics.0', received: '"everything"' })
      const headers = { 'last-event-id': 'yesterday' }
      expect((await problem(400, 'GET', '/v1/events', { headers })).body.field).toBe('last-event-id')
      await problem(404, 'GET', '/v1/agents/nobody')
      await problem(404, 'GET', '/v1/nothing')
      await problem(404, 'GET', '/')
      await problem(400, 'GET', '/v1/agents/%ff')
      await problem(413, 'GET', `/v1/agents/${'x'.repeat(300)}`)
      await problem(414, 'GET', `/v1/agents/${'x'.repeat(3_000)}`)
      const method = await problem(405, 'PATCH', '/v1/agents/coder')
      expect(method.headers.get('allow')).toBe('DELETE, GET, PUT')
      const text = { 'content-type': 'text/plain' }
      await problem(415, 'PUT', '/v1/agents/coder', { body: {}, headers: text })
      const zipped = { 'content-encoding': 'gzip' }
      await problem(415, 'PUT', '/v1/agents/coder', { body: {}, headers: zipped })
      await ask('POST', '/v1/threads/tight/messages', { body: { agent: 'a', messages: conversation(20) } })
      const tight = await problem(422, 'POST', '/v1/threads/tight/contexts', { body: { budget: 30 } })
      expect(tight.body.code).toBe('BUDGET_TOO_SMALL')
      const large = { ref: 'msg-1a2b3c4d', search: 'x'.repeat(300_000) }
      expect((await problem(413, 'POST', '/v1/recall', { body: large })).body.code).toBe('PAYLOAD_TOO_LARGE')
      const other = await problem(403, 'GET', '/v1/agents', { headers: { origin: 'http://evil.example' } })
      expect(other.body).toMatchObject({ code: 'FORBIDDEN', field: 'origin' })
    })

    test('a foreign host name that resolves to this address is refused on every route', async () => {
      const paths = Object.keys(http.document.paths).map((path) => path.replace(/\{\w+\}/g, 'x'))
      for (const path of [...paths, '/healthz', '/readyz', '/metrics', '/openapi.json', '/docs', '/%ff', '/none']) {
        expect([path, await statusOf(http.url, path, 'evil.example')]).toEqual([path, 403])
      }
      expect(await statusOf(http.url, '/healthz', 'localhost:1')).toBe(200)
    })

    test('health, readiness, metrics and docs are served', async () => {
      const get = async (path: string) => await (await fetch(`${http.url}${path}`)).text()
      expect(JSON.parse(await get('/healthz'))).toEqual({ status: 'ok', pid: 7 })
      expect(JSON.parse(await get('/readyz'))).toEqual({ status: 'ready' })
      const metrics = await get('/metrics')
      expect(metrics).toMatch(/^heddle_stage_jobs\{stage="ingest",state="waiting"\} 0$/m)
      expect(metrics).toMatch(/^nodejs_eventloop_lag_p99_seconds [\d.]+$/m)
      expect(metrics).toMatch(
        /heddle_http_request_duration_seconds_count\{method="GET",route="\/healthz",status="200"\}/,
      )
      expect(await get('/docs/')).toContain('<html')
      expect(http.document.openapi).toBe('3.1.0')
    })
  })
})

/** `fetch` sets the `Host` itself. */
function statusOf(url: string, path: string, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}${path}`, { headers: { host } }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0))
    })
    asked.once('error', reject).end()
  })
}

let made = 0

/** Turns of an agent that reads files, with distinct ids. */
function conversation(turns: number) {
  return Array.from({ length: turns }, (_, turn) => {
    const id = () => `018f0000-0000-7000-9000-${(++made).toString(16).padStart(12, '0')}`
    const call = { id: `call-${turn}`, name: 'Read', arguments: { file_path: `/repo/src/file${turn}.ts` } }
    const content = `export function part${turn}() {\n  return ${turn}\n}\n`.repeat(12)
    return [
      { id: id(), role: 'assistant', content: `Reading file ${turn}`, toolCalls: [call] },
      { id: id(), role: 'tool_result', toolCallId: call.id, content },
    ]
  }).flat()
}
