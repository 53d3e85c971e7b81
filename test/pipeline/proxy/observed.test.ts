import { gzipSync } from 'node:zlib'
import Anthropic from '@anthropic-ai/sdk'
import type { MessageParam } from '@anthropic-ai/sdk/resources/messages'
import type { Client, MessageEntry } from '@heddle/client/interface'
import { type Clock, systemClock } from '@heddle/runtime'
import { waitFor } from '@heddle/test-support'
import { ManualClock } from '@heddle/test-support/manual-clock'
import { anthropicCall, anthropicEvents, openAiCall, openAiEvents } from '@heddle/test-support/servers/protocol-streams'
import type { WireResponder } from '@heddle/test-support/servers/wire-server'
import OpenAi from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'
import { backendWith, callRaw, type ProxiedServer, storingIn, withProxy } from './proxy-support.js'

let pipeline: Pipeline

beforeAll(async () => {
  pipeline = await openPipeline()
  await pipeline.start(['ingest'])
})
afterAll(() => pipeline.close())

/** A proxy that stores in the pipeline, in a project of its own. */
async function observing(
  project: string,
  work: (served: ProxiedServer) => Promise<void>,
  clock: Clock = systemClock,
): Promise<void> {
  const backend = storingIn(pipeline)
  await withProxy(work, {
    proxy: { backend, clock },
    gateway: { project, backend: backendWith({ read: async () => null, hasAny: async () => false }) },
  })
}

/** The only thread of a project that has `count` messages or more, and its messages. */
async function threadWith(project: string, count: number) {
  const client = pipeline.clientOf(project)
  return await waitFor(async () => {
    for (const { name } of (await client.threads.list()).items) {
      const { items } = await client.messages.list({ thread: name, limit: 100 })
      if (items.length >= count) return { thread: name, messages: items, shown: items.map(shown) }
    }
    return null
  })
}

function shown({ role, content, toolCalls, toolCallId }: MessageEntry): string {
  return [role, content, ...(toolCalls ?? []).map(({ id }) => id), ...(toolCallId === undefined ? [] : [toolCallId])]
    .filter((part) => part !== '')
    .join(' | ')
}

const asked = {
  protocol: 'anthropic' as const,
  model: 'claude-sonnet-4-5',
  texts: [],
  system: '',
  user: '',
  outputTokensMax: 100,
  key: '',
  number: 1,
}

/** Calls a tool first, and answers in words once it has a result. */
const provider: WireResponder = ({ url, body }, response) => {
  const text = body.toString()
  const isStream = text.includes('"stream":true')
  response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
  const isAnthropic = url.includes('messages')
  const hasResult = text.includes('toolu_1')
  const call = { kind: 'call' as const, id: 'toolu_1', name: 'look_up', input: { city: 'Oslo' } }
  const events = hasResult
    ? (isAnthropic ? anthropicEvents : openAiEvents)(asked, ['In ', 'Norway.'], 'text')
    : (isAnthropic ? anthropicCall : openAiCall)(asked, call)
  if (isStream) for (const event of events) response.write(event)
  response.end(isStream ? undefined : '{"odd": true}')
}

const question = { role: 'user' as const, content: 'Where is Oslo?' }
const tools = [{ name: 'look_up', description: 'Looks up', input_schema: { type: 'object' as const } }]

describe('a conversation that is observed', () => {
  test('is stored once, message by message, with the replies of streams and their usage', async () => {
    await observing('observed-anthropic', async ({ upstream, anthropicUrl }) => {
      upstream.respond(provider)
      const client = new Anthropic({ baseURL: anthropicUrl, apiKey: 'sk-canary', maxRetries: 0 })
      const request = { model: 'claude-sonnet-4-5', max_tokens: 100, tools, messages: [question] as MessageParam[] }
      const first = await client.messages.stream(request).finalMessage()
      const result = { type: 'tool_result' as const, tool_use_id: 'toolu_1', content: 'Oslo: capital of Norway' }
      const messages: MessageParam[] = [
        question,
        { role: 'assistant', content: first.content },
        { role: 'user', content: [result] },
      ]
      const second = await client.messages.stream({ ...request, messages }).finalMessage()
      const thanks = { role: 'user' as const, content: 'Thanks, and Bergen?' }
      await client.messages
        .stream({ ...request, messages: [...messages, { role: 'assistant', content: second.content }, thanks] })
        .finalMessage()
      const { shown: said, messages: stored } = await threadWith('observed-anthropic', 6)
      expect(said).toEqual([
        'user | Where is Oslo?',
        'assistant | toolu_1',
        'tool_result | Oslo: capital of Norway | toolu_1',
        'assistant | In Norway.',
        'user | Thanks, and Bergen?',
        'assistant | In Norway.',
      ])
      expect(stored[2]?.toolName).toBe('look_up')
      expect(stored[3]?.usage).toMatchObject({ outputTokens: expect.any(Number) })
      expect((await pipeline.clientOf('observed-anthropic').threads.list()).items).toHaveLength(1)
    })
  })

  test('is stored from chat completions and responses, too', async () => {
    await observing('observed-chat', async ({ upstream, openAiUrl }) => {
      upstream.respond(provider)
      const client = new OpenAi({ baseURL: openAiUrl, apiKey: 'sk-canary', maxRetries: 0 })
      const messages = [{ role: 'system' as const, content: 'Be short.' }, question]
      const stream = await client.chat.completions.create({ model: 'gpt-5', messages, stream: true })
      for await (const _ of stream);
      const { shown: said } = await threadWith('observed-chat', 3)
      expect(said).toEqual(['system | Be short.', 'user | Where is Oslo?', 'assistant | toolu_1'])
    })
    await observing('observed-responses', async ({ upstream, openAiUrl }) => {
      const output = [
        { type: 'message', role: 'assistant', id: 'msg_1', content: [{ type: 'output_text', text: 'Norway' }] },
      ]
      const reply = {
        id: 'resp_1',
        object: 'response',
        model: 'gpt-5',
        output,
        usage: { input_tokens: 9, output_tokens: 2 },
      }
      upstream.respond((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
        response.end(
          gzipSync(
            `event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', response: reply })}\n\n`,
          ),
        )
      })
      const client = new OpenAi({ baseURL: openAiUrl, apiKey: 'sk-canary', maxRetries: 0 })
      const stream = await client.responses.create({ model: 'gpt-5', input: [question], stream: true })
      for await (const _ of stream);
      const { shown: said } = await threadWith('observed-responses', 2)
      expect(said).toEqual(['user | Where is Oslo?', 'assistant | Norway'])
    })
  })

  test('is the thread that the caller names, or one of its session; a branch without either is another thread', async () => {
    await observing('observed-threads', async ({ upstream, openAiUrl }) => {
      upstream.respond(provider)
      const say = (contents: readonly string[], headers: readonly string[] = []) =>
        callRaw(`${openAiUrl}/chat/completions`, {
          headers: ['x-heddle-agent', 'coder', ...headers],
          body: JSON.stringify({ model: 'm', messages: contents.map((content) => ({ role: 'user', content })) }),
        })
      await say(['a'], ['x-heddle-thread', 'named'])
      await say(['a', 'b'], ['x-heddle-thread', 'named'])
      await say(['a'], ['x-claude-code-session-id', 'session-1'])
      await say(['a', 'c'], ['x-claude-code-session-id', 'session-1'])
      await say(['sub-agent'], ['x-claude-code-session-id', 'session-1'])
      await say(['one', 'two'])
      await say(['one', 'two', 'three'])
      await say(['one', 'other'])
      const client = pipeline.clientOf('observed-threads')
      const contents = await waitFor(async () => {
        const found: string[] = []
        for (const { name, agent } of (await client.threads.list()).items) {
          const { items } = await client.messages.list({ thread: name })
          found.push([agent, ...items.map(({ content }) => content)].join(' '))
        }
        return found.length === 5 && found.includes('coder one other') && found.includes('coder one two three')
          ? found
          : null
      })
      expect(contents.sort()).toEqual([
        'coder a b',
        'coder a c',
        'coder one other',
        'coder one two three',
        'coder sub-agent',
      ])
    })
  })

  test('is listed request by request with tokens, usage and cost, page by page, and summed', async () => {
    await observing('observed-rows', async ({ upstream, anthropicUrl }) => {
      const usage = {
        input_tokens: 100,
        cache_read_input_tokens: 900,
        cache_creation_input_tokens: 50,
        output_tokens: 10,
      }
      const reply = { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Norway' }], usage }
      upstream.respond((_request, response) => void response.end(JSON.stringify(reply)))
      const messages: object[] = []
      for (const content of ['one', 'two', 'three']) {
        messages.push({ role: 'user', content })
        await callRaw(`${anthropicUrl}/v1/messages`, {
          headers: ['x-heddle-thread', content === 'three' ? 'other' : 'first'],
          body: JSON.stringify({ model: 'claude-sonnet-4-5', messages }),
        })
      }
      const { proxy } = pipeline.clientOf('observed-rows')
      await waitFor(async () => (await proxy.requests()).items.length === 3)
      const ofFirst = await proxy.requests({ thread: 'first', limit: 1 })
      expect(ofFirst.items).toMatchObject([
        {
          thread: 'first',
          upstream: 'anthropic',
          mode: 'observe',
          reasons: ['observed'],
          passed: null,
          entries: 2,
          usage: { input: 100, cacheRead: 900, cacheWrite: 50, output: 10 },
          status: 200,
        },
      ])
      // Dollars for a million tokens: 3 fresh, .3 read, 3.75 written, 15 output.
      expect(ofFirst.items[0]?.costUsd).toBeCloseTo(0.0009075, 7)
      const second = await proxy.requests({ thread: 'first', limit: 1, cursor: ofFirst.nextCursor ?? '' })
      expect([second.items[0]?.entries, second.nextCursor]).toEqual([1, null])
      expect((await proxy.stats()).items).toMatchObject([
        { mode: 'observe', model: 'claude-sonnet-4-5', requests: 3, threads: 2, priced: 3, isControl: false },
      ])
    })
  })

  test('names its mode, and its tokens once it was read, in the headers of a reply', async () => {
    const clock = new ManualClock()
    const work = async ({ upstream, anthropicUrl, gateway }: ProxiedServer) => {
      // The provider takes longer than reading waits for the reply.
      upstream.respond((_request, response) => {
        const respond = () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"type":"message"}')
        void clock.advance(1_000).then(respond)
      })
      const body = JSON.stringify({ model: 'claude-sonnet-4-5', messages: [question] })
      const { headers } = await callRaw(`${anthropicUrl}/v1/messages`, { body })
      expect(headers['x-heddle-mode']).toBe('observe')
      expect(headers['x-heddle-context']).toMatch(/^[0-9a-f-]{36}$/)
      expect(headers['x-heddle-tokens']).toMatch(/^in=\d+;sent=\d+;cached=0$/)
      const odd = await callRaw(`${anthropicUrl}/v1/messages`, { body: '{"messages": 7' })
      expect(odd.headers['x-heddle-mode']).toBe('passed; reason=not-understood')
      const metrics = (await callRaw(`${gateway.url}/metrics`, { method: 'GET' })).body.toString()
      expect(metrics).toContain('heddle_proxy_passed_total{reason="not-understood"} 1')
    }
    await observing('observed-headers', work, clock)
  })
})

describe('a store that is away', () => {
  test('changes no reply, and gets what it missed with the next request', async () => {
    const state = { isAway: true }
    const failing = { append: () => Promise.reject(new Error('away')) } as unknown as Client['messages']
    const clock = new ManualClock()
    const backend = storingIn(pipeline, (client) => (state.isAway ? { ...client, messages: failing } : client))
    await withProxy(
      async ({ upstream, openAiUrl, gateway }) => {
        upstream.respond(provider)
        const say = (contents: readonly string[]) =>
          callRaw(`${openAiUrl}/chat/completions`, {
            body: JSON.stringify({ model: 'm', messages: contents.map((content) => ({ role: 'user', content })) }),
          })
        expect((await say(['a'])).status).toBe(200)
        await waitFor(async () =>
          (await callRaw(`${gateway.url}/metrics`, { method: 'GET' })).body
            .toString()
            .includes('heddle_proxy_recorded_total{outcome="failed"} 1'),
        )
        state.isAway = false
        await clock.advance(5_000)
        expect((await say(['a', 'b'])).status).toBe(200)
        expect((await threadWith('observed-again', 2)).shown).toEqual(['user | a', 'user | b'])
      },
      { proxy: { backend, clock }, gateway: { project: 'observed-again' } },
    )
  })
})
