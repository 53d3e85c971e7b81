import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import Anthropic from '@anthropic-ai/sdk'
import { createClient as createHttpClient, type RemoteClient } from '@heddle/client/http'
import { generateText, stepCountIs, tool } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type ReplyServer, startReplyServer } from '../../support/src/servers/reply-server.js'
import { validateContext } from '../../support/src/validators/index.js'
import { type Served, serve } from '../doors/http-support.js'
import { openPipeline, type Pipeline } from '../support.js'

let pipeline: Pipeline
let http: Served
let provider: ReplyServer

beforeAll(async () => {
  pipeline = await openPipeline()
  await pipeline.start()
  http = await serve(pipeline)
  provider = await startReplyServer()
})
afterAll(async () => {
  await provider?.close()
  await http?.gateway.close()
  await pipeline?.close()
})

const transports: { transport: string; open(): Promise<RemoteClient> }[] = [
  { transport: 'the queue', open: async () => pipeline.clientOf('replies-over-queue') },
  {
    transport: 'HTTP',
    async open() {
      const { key } = await pipeline.clientOf('replies-over-http').keys.create({ name: 'sdk', role: 'admin' })
      return createHttpClient({ url: http.url, key })
    },
  },
]

const INPUT = '{"harbour":"Hull"}'
const chatCall = { id: 'call_1', type: 'function', function: { name: 'read_tide', arguments: INPUT } }
const completion = (id: string, message: object) => ({
  id,
  object: 'chat.completion',
  created: 1_770_000_000,
  model: 'any-model',
  choices: [
    { index: 0, finish_reason: 'stop', logprobs: null, message: { role: 'assistant', refusal: null, ...message } },
  ],
  usage: { prompt_tokens: 90, completion_tokens: 9, total_tokens: 99, prompt_tokens_details: { cached_tokens: 64 } },
})

const told = [
  ['user', 'When is high water?', undefined],
  ['assistant', '', 'read_tide'],
  ['tool_result', 'at four', undefined],
  ['assistant', 'High water is at four.', undefined],
]

describe.each(transports)('over $transport', ({ transport, open }) => {
  let heddle: RemoteClient
  beforeAll(async () => {
    heddle = await open()
  })
  const historyOf = async (thread: string) => (await heddle.messages.list({ thread, order: 'asc' })).items
  const toldIn = async (thread: string) =>
    (await historyOf(thread)).map(({ role, content, toolCalls }) => [role, content, toolCalls?.[0]?.name])

  test('completions of openai are appended unchanged, once, and are delivered in contexts', async () => {
    const openai = new OpenAI({ baseURL: provider.openAiUrl, apiKey: 'none', maxRetries: 0 })
    const names = { agent: 'pilot', thread: 'chat', format: 'openai-chat' } as const
    const ask = async () => {
      const context = await heddle.contexts.build({ thread: 'chat', budget: 8_000, format: 'openai-chat' })
      expect(validateContext(context)).toEqual([])
      const reply = await openai.chat.completions.create({ model: 'any-model', messages: context.messages })
      return { ...names, contextId: context.id, messages: [reply] }
    }
    provider.reply(
      completion(`chatcmpl-1-${transport}`, { content: null, tool_calls: [chatCall] }),
      completion(`chatcmpl-2-${transport}`, { content: 'High water is at four.' }),
    )
    await heddle.messages.append({ ...names, messages: [{ role: 'user', content: 'When is high water?' }] })
    await heddle.messages.append(await ask())
    await heddle.messages.append({ ...names, messages: [{ role: 'tool', tool_call_id: 'call_1', content: 'at four' }] })
    const last = await ask()
    expect(await heddle.messages.append(last)).toMatchObject({ stored: 1, repeated: 0 })
    expect(await heddle.messages.append(last)).toMatchObject({ stored: 0, repeated: 1 })
    expect(await toldIn('chat')).toEqual(told)
    expect((await historyOf('chat')).at(-1)).toMatchObject({
      sourceId: `chatcmpl-2-${transport}`,
      model: 'any-model',
      usage: { inputTokens: 26, cacheReadTokens: 64, outputTokens: 9 },
      contextId: last.contextId,
    })
    const { messages } = provider.requests.at(-1) as { messages: { role: string }[] }
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
  })

  test('responses of openai are appended unchanged, once, and are delivered in contexts', async () => {
    const openai = new OpenAI({ baseURL: provider.openAiUrl, apiKey: 'none', maxRetries: 0 })
    const names = { agent: 'pilot', thread: 'responses', format: 'openai-responses' } as const
    const response = (id: string, ...output: object[]) => ({
      id,
      object: 'response',
      model: 'any-model',
      status: 'completed',
      output: [{ id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'gAAAA' }, ...output],
      usage: { input_tokens: 90, input_tokens_details: { cached_tokens: 0 }, output_tokens: 9, total_tokens: 99 },
    })
    const text = { type: 'output_text', text: 'High water is at four.', annotations: [] }
    provider.reply(
      response('resp_1', { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'read_tide', arguments: INPUT }),
      response('resp_2', { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [text] }),
    )
    const ask = async () => {
      const context = await heddle.contexts.build({ thread: 'responses', budget: 8_000, format: 'openai-responses' })
      expect(validateContext(context)).toEqual([])
      return await openai.responses.create({ model: 'any-model', input: context.messages })
    }
    await heddle.messages.append({ ...names, messages: [{ role: 'user', content: 'When is high water?' }] })
    const output = { type: 'function_call_output', call_id: 'call_1', output: 'at four' } as const
    await heddle.messages.append({ ...names, messages: [await ask(), output] })
    const last = { ...names, messages: [await ask()] }
    await heddle.messages.append(last)
    expect(await heddle.messages.append(last)).toMatchObject({ stored: 0, repeated: 1 })
    expect(await toldIn('responses')).toEqual(told)
    const { input } = provider.requests.at(-1) as { input: { type: string }[] }
    expect(input.map(({ type }) => type)).toEqual(['message', 'function_call', 'function_call_output'])
  })

  test('answers of Anthropic are appended unchanged, once, and are delivered in contexts with their reasoning', async () => {
    const anthropic = new Anthropic({ baseURL: provider.anthropicUrl, apiKey: 'none', maxRetries: 0 })
    const names = { agent: 'pilot', thread: 'anthropic', format: 'anthropic' } as const
    const thinking = { type: 'thinking', thinking: 'The tide first.', signature: 'c2lnbmVk' }
    const reply = (id: string, ...content: object[]) => ({
      id,
      type: 'message',
      role: 'assistant',
      model: 'claude-test',
      content,
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 10, cache_read_input_tokens: 80, cache_creation_input_tokens: 0, output_tokens: 9 },
    })
    provider.reply(
      reply('msg_1', thinking, { type: 'tool_use', id: 'toolu_1', name: 'read_tide', input: { harbour: 'Hull' } }),
      reply('msg_2', { type: 'text', text: 'High water is at four.' }),
    )
    const ask = async () => {
      const { system, messages, ...context } = await heddle.contexts.build({
        thread: 'anthropic',
        budget: 8_000,
        format: 'anthropic',
      })
      expect(validateContext({ format: context.format, system, messages })).toEqual([])
      const request = { model: 'claude-test', max_tokens: 64, messages, ...(system !== null && { system }) }
      return await anthropic.messages.create(request)
    }
    await heddle.messages.append({ ...names, messages: [{ role: 'user', content: 'When is high water?' }] })
    const results: Anthropic.MessageParam = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'at four' }] }],
    }
    await heddle.messages.append({ ...names, messages: [await ask(), results] })
    const last = { ...names, messages: [await ask()] }
    await heddle.messages.append(last)
    expect(await heddle.messages.append(last)).toMatchObject({ stored: 0, repeated: 1 })
    expect(await toldIn('anthropic')).toEqual(told)
    const { messages } = provider.requests.at(-1) as { messages: { content: unknown }[] }
    expect(messages[1]?.content).toMatchObject([thinking, { type: 'tool_use', id: 'toolu_1' }])
    expect((await historyOf('anthropic')).at(-1)?.usage).toEqual({
      inputTokens: 10,
      cacheReadTokens: 80,
      outputTokens: 9,
    })
  })

  test('results of the AI SDK are appended unchanged, once, and are delivered in contexts', async () => {
    const model = createOpenAICompatible({ name: 'local', baseURL: provider.openAiUrl })('any-model')
    const names = { agent: 'pilot', thread: 'ai-sdk', format: 'ai-sdk' } as const
    provider.reply(
      completion('chatcmpl-3', { content: null, tool_calls: [chatCall] }),
      completion('chatcmpl-4', { content: 'High water is at four.' }),
    )
    await heddle.messages.append({ ...names, messages: [{ role: 'user', content: 'When is high water?' }] })
    const build = () => heddle.contexts.build({ thread: 'ai-sdk', budget: 8_000, format: 'ai-sdk' })
    const { messages, id: contextId } = await build()
    const read_tide = tool({ inputSchema: z.object({ harbour: z.string() }), execute: () => 'at four' })
    const result = await generateText({ model, messages, tools: { read_tide }, stopWhen: stepCountIs(3) })
    const generated = { ...names, contextId, messages: [result] }
    expect(await heddle.messages.append(generated)).toMatchObject({ stored: 3, repeated: 0 })
    expect(await heddle.messages.append(generated)).toMatchObject({ stored: 0, repeated: 3 })
    expect(await toldIn('ai-sdk')).toEqual(told)
    expect((await historyOf('ai-sdk')).at(-1)?.usage).toEqual({ inputTokens: 26, cacheReadTokens: 64, outputTokens: 9 })
    const context = await build()
    expect(validateContext(context)).toEqual([])
    provider.reply(completion('chatcmpl-5', { content: 'Yes.' }))
    await generateText({ model, messages: context.messages })
    const { messages: sent } = provider.requests.at(-1) as { messages: { role: string }[] }
    expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  })

  test('invalid input is refused with its path in the format, and nothing of the append is stored', async () => {
    const refused = heddle.messages.append({
      agent: 'pilot',
      thread: 'half',
      format: 'openai-chat',
      messages: [
        { role: 'user', content: 'good' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: {} as never }] },
      ],
    })
    const field = 'messages.1.tool_calls.0.function.name'
    await expect(refused).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field })
    await expect(heddle.threads.get('half')).rejects.toMatchObject({ code: 'NOT_FOUND', field: 'thread' })
  })

  test('a conflict names the entry of the message, also when one entry holds several messages', async () => {
    const names = { agent: 'pilot', thread: 'conflict', format: 'anthropic' } as const
    const results = ['toolu_1', 'toolu_2'].map((tool_use_id) => ({ type: 'tool_result' as const, tool_use_id }))
    const turn = { role: 'user' as const, content: results }
    const reply = { id: 'msg_9', role: 'assistant' as const, content: 'at four', usage: { input_tokens: 1 } }
    await heddle.messages.append({ ...names, messages: [reply] })
    const other = { ...reply, usage: { input_tokens: 2 } }
    const conflict = heddle.messages.append({ ...names, messages: [turn, other] })
    await expect(conflict).rejects.toMatchObject({ code: 'CONFLICT', field: 'messages.1.id' })
  })
})

test('plain HTTP accepts a format, derives ids from the key of the request, and refuses with paths in the format', async () => {
  const path = '/v1/threads/plain/messages'
  const headers = { 'idempotency-key': 'turn-1' }
  const body = {
    agent: 'pilot',
    format: 'openai-chat',
    messages: [
      { role: 'assistant', content: null, tool_calls: [chatCall] },
      { role: 'tool', tool_call_id: 'call_1', content: 'at four' },
    ],
  }
  expect(await http.ask('POST', path, { body, headers })).toMatchObject({ status: 200, body: { stored: 2 } })
  expect(await http.ask('POST', path, { body, headers })).toMatchObject({ status: 200, body: { repeated: 2 } })
  const bad = { ...body, messages: [{ role: 'tool', content: 'at four' }] }
  expect(await http.ask('POST', path, { body: bad })).toMatchObject({
    status: 400,
    body: { code: 'VALIDATION_ERROR', field: 'messages.0.tool_call_id' },
  })
  expect(await http.ask('POST', path, { body: { ...body, format: 'openai' } })).toMatchObject({
    status: 400,
    body: { code: 'VALIDATION_ERROR', field: 'format', detail: expect.stringContaining('openai-chat') },
  })
})
