import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { waitFor } from '@heddle/test-support'
import type { WireRequest } from '@heddle/test-support/servers/wire-server'
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents'
import { generateText, jsonSchema, stepCountIs, streamText } from 'ai'
import * as ai6 from 'ai-6'
import OpenAi from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'
import { agentProvider } from './agent-provider.js'
import { storingIn, withProxy } from './proxy-support.js'

let pipeline: Pipeline

beforeAll(async () => {
  // One server of queues: requests and replies are the same whichever stores them.
  pipeline = await openPipeline('postgres')
  await pipeline.start(['ingest'])
})
afterAll(() => pipeline?.close())

const QUESTION = 'When is high water, und wie ist der Wind? 🧵'
const parameters = {
  type: 'object' as const,
  properties: { harbour: { type: 'string' as const } },
  required: ['harbour'],
  additionalProperties: false as const,
}
const results = { read_tide: 'at four', read_wind: 'veering' } as const
type ToolName = keyof typeof results
const names = Object.keys(results) as ToolName[]

interface Given {
  readonly baseURL: string
  /** Keeps the bytes of each reply. */
  readonly fetch: typeof fetch
}

const agent = new Agent({
  name: 'harbour',
  instructions: 'Read before you answer.',
  model: 'gpt-4.1',
  tools: names.map((name) =>
    tool({ name, description: name, parameters, strict: true, execute: async () => results[name] }),
  ),
})

const runnerOf = (useResponses: boolean, { baseURL, fetch }: Given) => {
  const openAIClient = new OpenAi({ baseURL, fetch, apiKey: 'sk-agent', maxRetries: 0 })
  return new Runner({ modelProvider: new OpenAIProvider({ openAIClient, useResponses }), tracingDisabled: true })
}

async function runAgent(useResponses: boolean, given: Given): Promise<unknown> {
  return (await runnerOf(useResponses, given).run(agent, QUESTION)).finalOutput
}

async function streamAgent(useResponses: boolean, given: Given): Promise<unknown> {
  const stream = await runnerOf(useResponses, given).run(agent, QUESTION, { stream: true })
  let text = ''
  for await (const part of stream.toTextStream()) text += String(part)
  await stream.completed
  expect(stream.finalOutput).toBe(text)
  return stream.finalOutput
}

const modelAt = ({ baseURL, fetch }: Given) =>
  createOpenAICompatible({ name: 'harbour', baseURL, fetch, apiKey: 'sk-ai' })('gpt-4.1')

const aiCall = { prompt: QUESTION, maxRetries: 0 }
const aiTools = Object.fromEntries(
  names.map((name) => [
    name,
    { description: name, inputSchema: jsonSchema(parameters), execute: async () => results[name] },
  ]),
)
const ai6Tools = Object.fromEntries(
  names.map((name) => [
    name,
    { description: name, inputSchema: ai6.jsonSchema(parameters), execute: async () => results[name] },
  ]),
)

const runs: Readonly<Record<string, (given: Given) => Promise<unknown>>> = {
  'an agent of the OpenAI Agents SDK on responses': (given) => runAgent(true, given),
  'a streamed agent of the OpenAI Agents SDK on responses': (given) => streamAgent(true, given),
  'an agent of the OpenAI Agents SDK on chat completions': (given) => runAgent(false, given),
  'a streamed agent of the OpenAI Agents SDK on chat completions': (given) => streamAgent(false, given),
  'generateText of the AI SDK': async (given) =>
    (await generateText({ ...aiCall, tools: aiTools, model: modelAt(given), stopWhen: stepCountIs(3) })).text,
  'streamText of the AI SDK': async (given) =>
    await streamText({ ...aiCall, tools: aiTools, model: modelAt(given), stopWhen: stepCountIs(3) }).text,
  'streamText of the AI SDK 6': async (given) =>
    await ai6.streamText({ ...aiCall, tools: ai6Tools, model: modelAt(given), stopWhen: ai6.stepCountIs(3) }).text,
}

/** Everything that the provider received, but for the address. */
const received = ({ method, url, rawHeaders, body }: WireRequest): unknown => ({
  ...{ method, url, body: body.toString() },
  headers: rawHeaders.map((text) => text.replace(/^127\.0\.0\.1:\d+$/, 'host')),
})

/** Those of the connection, and those that the proxy adds. */
const OWN_HEADERS = /^(?:x-heddle-.*|keep-alive|date)$/

/** A `fetch` that keeps the bytes of replies, with their status and the headers of the provider. */
function recording() {
  const replies: Promise<unknown>[] = []
  const own: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    const headers = [...response.headers].filter(([header]) => !OWN_HEADERS.test(header))
    const read = async () => Buffer.from(await copy.arrayBuffer()).toString('latin1')
    const copy = response.clone()
    replies.push(read().then((body) => ({ status: response.status, headers, body })))
    return response
  }
  return { fetch: own, replies: () => Promise.all(replies) }
}

test.each(Object.entries(runs))(
  '%s calls two tools at once, the same with the proxy and without it',
  async (name, run) => {
    const project = `packages ${Object.keys(runs).indexOf(name)}`
    await withProxy(
      async ({ upstream, openAiUrl }) => {
        upstream.respond(agentProvider)
        const [direct, proxied] = [recording(), recording()]
        const answer = await run({ baseURL: `${upstream.url}/v1`, fetch: direct.fetch })
        expect(answer).toBe('High water is at four, und der Wind dreht. 🧵')
        expect(await run({ baseURL: openAiUrl, fetch: proxied.fetch })).toBe(answer)
        const requests = upstream.requests.map(received)
        expect(requests).toHaveLength(4)
        expect(requests.slice(2)).toEqual(requests.slice(0, 2))
        expect(await proxied.replies()).toEqual(await direct.replies())

        const { messages, threads } = pipeline.clientOf(project)
        const stored = await waitFor(async () => {
          const [thread] = (await threads.list()).items
          const { items } = await messages
            .list({ thread: thread?.name ?? '', order: 'asc' })
            .catch(() => ({ items: [] }))
          return items.at(-1)?.content === answer ? items : null
        })
        const said = stored.filter(({ role }) => role !== 'system')
        expect(said.map(({ role, content }) => `${role}: ${content}`)).toEqual([
          `user: ${QUESTION}`,
          'assistant: ',
          'tool_result: at four',
          'tool_result: veering',
          `assistant: ${String(answer)}`,
        ])
        expect(said[1]?.toolCalls?.map(({ name: called }) => called)).toEqual(names)
      },
      { proxy: { backend: storingIn(pipeline) }, gateway: { project } },
    )
  },
)
