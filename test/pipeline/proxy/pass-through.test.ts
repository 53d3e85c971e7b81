import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { backendWith, callRaw, withProxy } from './proxy-support.js'

/** Headers of a connection, which differs on each side. */
const OF_CONNECTIONS = /^(connection|keep-alive|transfer-encoding)$/i

const knowingKey = {
  gateway: {
    backend: backendWith({
      read: async () => ({ project: 'tests', role: 'agent' as const }),
      hasAny: async () => true,
    }),
  },
}

/** Header lines without those of the connection and of the proxy itself. */
function linesOf(rawHeaders: readonly string[]): string[] {
  const lines: string[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (!OF_CONNECTIONS.test(name) && !/^x-heddle-/i.test(name)) lines.push(`${name}: ${rawHeaders[index + 1]}`)
  }
  return lines
}

test('headers of a request keep their order, case and repetitions, and those of the proxy and of the connection stay', async () => {
  await withProxy(async ({ upstream, anthropicUrl }) => {
    const headers = [
      ...['X-Api-Key', 'sk-1', 'anthropic-beta', 'one', 'Anthropic-Beta', 'two', 'X-Odd', 'né'],
      ...['Connection', 'keep-alive, X-Hop', 'X-Hop', '1', 'TE', 'trailers', 'Proxy-Authorization', 'Basic x'],
      ...['X-Heddle-Thread', 'mine', 'x-heddle-key', 'heddle-key', 'Accept-Encoding', 'gzip', 'Content-Type', 'a/b'],
    ]
    const answer = await callRaw(`${anthropicUrl}/v1/messages?beta=true`, { headers, body: Buffer.from('{"odd": 1}') })
    expect([answer.status, answer.body.toString()]).toEqual([200, '{}'])
    const [received] = upstream.requests
    expect(received?.url).toBe('/v1/messages?beta=true')
    expect(received?.body.toString()).toBe('{"odd": 1}')
    expect(linesOf(received?.rawHeaders ?? [])).toEqual([
      `Host: ${new URL(upstream.url).host}`,
      'X-Api-Key: sk-1',
      'anthropic-beta: one',
      'Anthropic-Beta: two',
      'X-Odd: né',
      'Accept-Encoding: gzip',
      'Content-Type: a/b',
      'Content-Length: 10',
    ])
    expect(received?.rawHeaders.join()).not.toMatch(/x-hop|trailers|basic x|heddle/i)
  }, knowingKey)
})

test('a reply is relayed byte for byte, compressed as it came, with its status line and its headers', async () => {
  await withProxy(async ({ upstream, openAiUrl }) => {
    const body = gzipSync('{"data": []}')
    upstream.respond((_request, response) => {
      response.writeHead(203, 'Nearly Fine', [
        ...['Content-Type', 'application/json', 'content-encoding', 'gzip', 'Content-Length', String(body.length)],
        ...['Set-Cookie', 'a=1', 'set-cookie', 'b=2', 'X-Request-Id', 'req_1', 'Date', 'Thu, 26 Nov 2026 00:00:00 GMT'],
      ] as never)
      response.end(body)
    })
    const direct = await callRaw(`${upstream.url}/v1/models`, { method: 'GET' })
    const proxied = await callRaw(`${openAiUrl}/models`, { method: 'GET' })
    expect(proxied.body).toEqual(body)
    expect([proxied.status, proxied.statusText]).toEqual([203, 'Nearly Fine'])
    expect(linesOf(proxied.rawHeaders)).toEqual(linesOf(direct.rawHeaders))
    expect(upstream.requests.map(({ url }) => url)).toEqual(['/v1/models', '/v1/models'])
  })
})

test('errors of the upstream arrive as they were sent, with their time to retry', async () => {
  await withProxy(async ({ upstream, anthropicUrl }) => {
    const sent = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    for (const status of [400, 401, 413, 429, 500, 529]) {
      upstream.respond((_request, response) => {
        response.writeHead(status, { 'retry-after': '7', 'x-should-retry': 'true' }).end(JSON.stringify(sent))
      })
      const answer = await callRaw(`${anthropicUrl}/v1/messages`, { body: '{}' })
      expect(answer.status).toBe(status)
      expect(answer.headers).toMatchObject({ 'retry-after': '7', 'x-should-retry': 'true' })
      expect(JSON.parse(answer.body.toString())).toEqual(sent)
    }
  })
})

test('every method passes, with a body or without one', async () => {
  await withProxy(async ({ upstream, openAiUrl }) => {
    upstream.respond((_request, response) => void response.writeHead(204).end())
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'OPTIONS']) {
      expect((await callRaw(`${openAiUrl}/files/1`, { method })).status).toBe(204)
    }
    await callRaw(`${openAiUrl}/files/1`, { method: 'DELETE', headers: ['Transfer-Encoding', 'chunked'], body: '' })
    expect((await callRaw(`${openAiUrl}/batches`, { method: 'POST' })).status).toBe(204)
    expect(upstream.requests.map(({ method }) => method)).toEqual([
      ...['GET', 'HEAD', 'PUT', 'PATCH', 'OPTIONS', 'DELETE', 'POST'],
    ])
  })
})

test('each part of a stream arrives before the next one is sent', async () => {
  await withProxy(async ({ upstream, anthropicUrl }) => {
    const next: (() => void)[] = []
    upstream.respond(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      for (const part of ['event: ping\n\n', 'data: 1\n\n', 'data: 2\n\n']) {
        await new Promise<void>((resolve) => next.push(resolve))
        response.write(part)
      }
      response.end()
    })
    const sending = request(`${anthropicUrl}/v1/messages`, { method: 'POST' }).end('{}')
    const [answer] = (await once(sending, 'response')) as [IncomingMessage]
    const ended = once(answer, 'end')
    for (const part of ['event: ping\n\n', 'data: 1\n\n', 'data: 2\n\n']) {
      next.shift()?.()
      expect(String((await once(answer, 'data'))[0])).toBe(part)
    }
    await ended
  })
})

test('a caller that cancels ends the request at the upstream', async () => {
  await withProxy(async ({ upstream, anthropicUrl }) => {
    let whenClosed: (value: unknown) => void = () => {}
    const closed = new Promise((resolve) => {
      whenClosed = resolve
    })
    upstream.respond((_request, response) => {
      response.once('close', whenClosed)
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
    })
    const sending = request(`${anthropicUrl}/v1/messages`, { method: 'POST' }).end('{}')
    const [answer] = (await once(sending, 'response')) as [IncomingMessage]
    await once(answer, 'data')
    sending.destroy()
    await closed
  })
})

test('a reply that the upstream cuts off is cut off for the caller', async () => {
  await withProxy(async ({ upstream, anthropicUrl }) => {
    upstream.respond((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: 1\n\n', () => response.destroy())
    })
    await expect(callRaw(`${anthropicUrl}/v1/messages`, { body: '{}' })).rejects.toMatchObject({ code: 'ECONNRESET' })
  })
})

test('an upstream sends no faster than the caller reads', async () => {
  await withProxy(async ({ upstream, openAiUrl }) => {
    let written = 0
    let whenFull: (value: unknown) => void = () => {}
    const full = new Promise((resolve) => {
      whenFull = resolve
    })
    upstream.respond((_request, response) => {
      const part = Buffer.alloc(1_000_000)
      while (written < 100_000_000 && response.write(part)) written += part.length
      const fill = () => {
        while (written < 100_000_000 && response.write(part)) written += part.length
        if (written >= 100_000_000) response.end()
      }
      response.on('drain', fill)
      // Nothing drains once the buffers of both connections are full.
      const seen = { written: -1 }
      const check = setInterval(() => {
        if (seen.written === written) {
          clearInterval(check)
          whenFull(written)
        }
        seen.written = written
      }, 200)
    })
    const sending = request(`${openAiUrl}/chat/completions`, { method: 'POST' }).end('{}')
    const [answer] = (await once(sending, 'response')) as [IncomingMessage]
    await full
    expect(written).toBeLessThan(60_000_000)
    answer.destroy()
  })
})

test('bodies of 32 MiB and more pass whole', async () => {
  await withProxy(async ({ upstream, anthropicUrl }) => {
    for (const bytes of [32 * 1024 * 1024, 40 * 1024 * 1024]) {
      const body = Buffer.alloc(bytes, 'abcdefghijk')
      await callRaw(`${anthropicUrl}/v1/messages`, { body })
      expect(upstream.requests.at(-1)?.body.equals(body)).toBe(true)
    }
  })
})

test('connections to the upstream are kept, and one that has just ended is replaced', async () => {
  await withProxy(async ({ upstream, anthropicUrl }) => {
    for (let call = 0; call < 5; call++) await callRaw(`${anthropicUrl}/v1/messages`, { body: `${call}` })
    expect(upstream.connections).toBe(1)
    // The upstream ends the connection as the next request arrives on it.
    let isCut = false
    upstream.onArrival((incoming) => {
      if (isCut) return
      isCut = true
      incoming.socket.destroy()
    })
    const answer = await callRaw(`${anthropicUrl}/v1/messages`, { body: 'again' })
    expect([answer.status, isCut]).toEqual([200, true])
    expect(upstream.requests.at(-1)?.body.toString()).toBe('again')
  })
})
