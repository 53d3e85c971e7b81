import type { ServerResponse } from 'node:http'
import { anthropicEvents, openAiEvents } from '@heddle/test-support/servers/protocol-streams'
import type { WireRequest, WireResponder } from '@heddle/test-support/servers/wire-server'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type GeneratedCall, generatedCall, numberOf, send } from './generated-calls.js'
import { withProxy } from './proxy-support.js'

const CALLS = 1_000
const asked = {
  protocol: 'anthropic' as const,
  model: 'a-model',
  texts: [],
  system: '',
  user: '',
  outputTokensMax: 100,
  key: '',
  number: 1,
}

/** Every kind of answer, chosen by the bytes of the request: whole, in parts, refused, overloaded, or cut off. */
const provider: WireResponder = async ({ url, body }, response) => {
  const isStream = body.toString().includes('"stream":true')
  response.sendDate = false
  const kind = numberOf(body, 10)
  const error = (status: number, headers: Record<string, string>) => {
    response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_1', ...headers })
    response.end(JSON.stringify({ type: 'error', error: { type: 'an_error', message: 'It is so: "naïve".' } }))
  }
  if (kind === 0) return error(400, {})
  if (kind === 1) return error(429, { 'retry-after': '7', 'x-ratelimit-remaining-tokens': '0' })
  if (kind === 2) return error(529, { 'retry-after-ms': '1500' })
  response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json', 'x-future': 'kept' })
  const events = url.includes('messages') ? anthropicEvents : openAiEvents
  const parts = isStream
    ? [...events(asked, ['Où ', '木 is ', 'Oslo?'], 'text'), ': keep-alive\n\n']
    : [
        JSON.stringify({
          id: 'reply',
          content: [],
          choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
          output: [],
        }),
      ]
  const bytes = Buffer.from(parts.join(''))
  // Parts end in the middle of characters.
  const cut = 1 + numberOf(body, Math.max(1, bytes.length - 1))
  await written(response, bytes.subarray(0, cut))
  if (kind === 3) return void response.destroy()
  response.end(bytes.subarray(cut))
}

function written(response: ServerResponse, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => response.write(bytes, () => resolve()))
}

/** Each server has its own, which concern a single connection. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding'])

interface RawReply {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly bytes: string
  readonly isCut: boolean
}

/** Like `fetch`, and keeps the bytes of each reply. */
function recordingFetch(replies: RawReply[]): typeof fetch {
  return async (input, init) => {
    const reply = await fetch(input, init)
    const parts: Uint8Array[] = []
    let isCut = false
    try {
      for await (const part of reply.body ?? []) parts.push(part as Uint8Array)
    } catch {
      isCut = true
    }
    const bytes = Buffer.concat(parts)
    const headers = [...reply.headers].filter(([name]) => !HOP_BY_HOP.has(name) && !name.startsWith('x-heddle-'))
    replies.push({ status: reply.status, headers, bytes: bytes.toString('base64'), isCut })
    return new Response(bytes, { status: reply.status, headers: reply.headers })
  }
}

/** Everything that the provider received, but for its own address. */
function shown({ method, url, rawHeaders, body }: WireRequest): unknown {
  return {
    method,
    url,
    headers: rawHeaders.map((each) => each.replace(/^127\.0\.0\.1:\d+$/, 'host')),
    body: body.toString('base64'),
  }
}

test(`${CALLS} generated calls of the providers' packages and their replies are equal with the proxy and without it`, async () => {
  const calls: GeneratedCall[] = fc.sample(generatedCall, CALLS)
  await withProxy(async ({ upstream, anthropicUrl, openAiUrl }) => {
    upstream.respond(provider)
    const [direct, proxied]: [RawReply[], RawReply[]] = [[], []]
    for (const [index, call] of calls.entries()) {
      const first = await send(call, { anthropic: upstream.url, openai: `${upstream.url}/v1` }, recordingFetch(direct))
      const second = await send(call, { anthropic: anthropicUrl, openai: openAiUrl }, recordingFetch(proxied))
      const what = `call ${index}: ${call.kind}`
      expect(second, what).toEqual(first)
      const [sent, sentByProxy] = upstream.requests.slice(2 * index)
      if (sent === undefined || sentByProxy === undefined)
        throw new Error(`${what}: the provider received less than two requests`)
      expect(shown(sentByProxy), what).toEqual(shown(sent))
      expect(proxied[index], what).toEqual(direct[index])
    }
    expect(new Set(direct.map(({ status }) => status))).toEqual(new Set([200, 400, 429, 529]))
    expect(direct.filter(({ isCut }) => isCut).length).toBeGreaterThan(10)
    expect(new Set(calls.map(({ kind }) => kind)).size).toBe(4)
  })
})
