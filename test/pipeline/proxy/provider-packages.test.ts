import Anthropic from '@anthropic-ai/sdk'
import { anthropicEvents, openAiEvents } from '@heddle/test-support/servers/protocol-streams'
import type { WireRequest, WireResponder } from '@heddle/test-support/servers/wire-server'
import OpenAi from 'openai'
import { expect, test } from 'vitest'
import { type ProxiedServer, withProxy } from './proxy-support.js'

const asked = {
  protocol: 'anthropic' as const,
  model: 'a-model',
  texts: [],
  system: 'Be short.',
  user: 'Where is Oslo?',
  outputTokensMax: 100,
  key: '',
  number: 1,
}

/** Streams where a request asks for a stream, and answers JSON otherwise. */
const provider: WireResponder = ({ url, body }, response) => {
  const isStream = body.toString().includes('"stream":true')
  response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
  const events = url.includes('messages') ? anthropicEvents : openAiEvents
  if (isStream) for (const event of events(asked, ['In ', 'Norway.'], 'text')) response.write(event)
  response.end(isStream ? undefined : JSON.stringify({ id: 'reply', content: [], choices: [], output: [], data: [] }))
}

type Call = (base: { anthropic: string; openai: string }) => Promise<unknown>

const anthropicAt = (baseURL: string) => new Anthropic({ baseURL, apiKey: 'sk-ant', maxRetries: 0 })
const openAiAt = (baseURL: string) => new OpenAi({ baseURL, apiKey: 'sk-openai', maxRetries: 0 })
const message = { model: 'a-model', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Où est Oslo? 🧵' }] }
const completion = { model: 'a-model', messages: message.messages }

async function all(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const events: unknown[] = []
  for await (const event of stream) events.push(event)
  return events
}

const calls: Readonly<Record<string, Call>> = {
  'messages.create': async ({ anthropic }) => anthropicAt(anthropic).messages.create(message),
  'messages.create as a stream': async ({ anthropic }) =>
    all(await anthropicAt(anthropic).messages.create({ ...message, stream: true })),
  'beta.messages.create': async ({ anthropic }) =>
    anthropicAt(anthropic).beta.messages.create({ ...message, betas: ['a-beta-2026-01-01'] }),
  'messages.countTokens': async ({ anthropic }) => anthropicAt(anthropic).messages.countTokens(message),
  'models.list of Anthropic': async ({ anthropic }) => (await anthropicAt(anthropic).models.list()).data,
  'chat.completions.create': async ({ openai }) => openAiAt(openai).chat.completions.create(completion),
  'chat.completions.create as a stream': async ({ openai }) =>
    all(await openAiAt(openai).chat.completions.create({ ...completion, stream: true })),
  'responses.create': async ({ openai }) => openAiAt(openai).responses.create({ model: 'a-model', input: 'Hello' }),
  'embeddings.create': async ({ openai }) => openAiAt(openai).embeddings.create({ model: 'a-model', input: 'Hello' }),
  'models.list of OpenAI': async ({ openai }) => (await openAiAt(openai).models.list()).data,
  'files.create': async ({ openai }) =>
    openAiAt(openai).files.create({ purpose: 'batch', file: new File(['{}\n'], 'a.jsonl') }),
}

/** Everything that the provider received, but for the address and for boundaries that are chosen at random. */
function shown({ method, url, rawHeaders, body }: WireRequest): unknown {
  const boundary = /boundary=([^;,\s]+)/.exec(rawHeaders.join())?.[1] ?? 'none'
  const same = (text: string) => text.replaceAll(boundary, 'boundary').replace(/^127\.0\.0\.1:\d+$/, 'host')
  return { method, url, headers: rawHeaders.map(same), body: same(body.toString()) }
}

test.each(Object.entries(calls))('%s is the same with the proxy and without it', async (_name, call) => {
  await withProxy(async ({ upstream, anthropicUrl, openAiUrl }: ProxiedServer) => {
    upstream.respond(provider)
    const direct = await call({ anthropic: upstream.url, openai: `${upstream.url}/v1` })
    const proxied = await call({ anthropic: anthropicUrl, openai: openAiUrl })
    expect(proxied).toEqual(direct)
    const [first, second] = upstream.requests
    if (first === undefined || second === undefined) throw new Error('the provider received less than two requests')
    expect(shown(second)).toEqual(shown(first))
  })
})
