import Anthropic from '@anthropic-ai/sdk'
import type { JsonObject } from '@heddle/contracts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'
import { type ProxiedServer, storingIn, withProxy } from './proxy-support.js'

let pipeline: Pipeline

beforeAll(async () => {
  pipeline = await openPipeline()
  await pipeline.start()
})
afterAll(() => pipeline.close())

const LATE_MS = 20_000
const policy = { resultTokensMin: 400, resultTokensKept: 60, addsRecallTool: true }
const LONG = Array.from({ length: 300 }, (_, line) => `line ${line}: the tide table of Hull`).join('\n')
const tool = (name: string) => ({ name, description: name, input_schema: { type: 'object' as const } })

async function inProject(project: string, work: (served: ProxiedServer) => Promise<void>): Promise<void> {
  await withProxy(work, {
    proxy: { backend: storingIn(pipeline), lateMs: LATE_MS, mode: 'stub', policy },
    gateway: { project },
  })
}

const bodiesOf = ({ upstream }: ProxiedServer) =>
  upstream.requests.map(
    ({ body }) => JSON.parse(body.toString()) as { tools: { name: string }[]; messages: JsonObject[] },
  )

const event = (value: JsonObject) => `event: ${String(value['type'])}\ndata: ${JSON.stringify(value)}\n\n`

/** A streamed message of Anthropic's. */
function streamed(id: string, content: readonly JsonObject[], stopReason: string): string {
  const usage = { input_tokens: 100, output_tokens: 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }
  const message = { id, type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content: [], usage }
  const blocks = content.flatMap((block, index) => {
    const { input, text } = block
    const start = input === undefined ? { ...block, text: '' } : { ...block, input: {} }
    const delta: JsonObject =
      input === undefined
        ? { type: 'text_delta', text: text ?? '' }
        : { type: 'input_json_delta', partial_json: JSON.stringify(input) }
    return [
      event({ type: 'content_block_start', index, content_block: start }),
      event({ type: 'content_block_delta', index, delta }),
      event({ type: 'content_block_stop', index }),
    ]
  })
  return [
    event({ type: 'message_start', message }),
    ...blocks,
    event({
      type: 'message_delta',
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: { output_tokens: 9 },
    }),
    event({ type: 'message_stop' }),
  ].join('')
}

/** The reference that a request shows. */
const referenceIn = (body: unknown): string => /\[recall:(msg-\w+)\]/.exec(JSON.stringify(body))?.[1] ?? ''

const use = (id: string, name: string, input: JsonObject): JsonObject => ({ type: 'tool_use', id, name, input })

describe('a model that recalls', () => {
  test('gets the text beside two calls of the client, in a stream, and the client sees valid messages alone', async () => {
    await inProject('recalled-beside', async (served) => {
      const client = new Anthropic({ apiKey: 'none', baseURL: served.anthropicUrl, maxRetries: 0 })
      const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'When is high water?' }]
      served.upstream.respond((request, response) => {
        const body = JSON.parse(request.body.toString()) as { messages: JsonObject[] }
        const replies = [
          streamed('msg_1', [use('c0', 'read_table', {})], 'tool_use'),
          streamed(
            'msg_2',
            [
              { type: 'text', text: 'I look at three things.' },
              use('c1', 'read_clock', {}),
              use('r1', 'heddle_recall', { ref: referenceIn(body.messages) }),
              use('c2', 'read_place', {}),
            ],
            'tool_use',
          ),
          streamed('msg_3', [{ type: 'text', text: 'At four.' }], 'end_turn'),
        ]
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.end(replies[served.upstream.requests.length - 1])
      })
      const ask = async () => {
        const stream = client.messages.stream(
          {
            model: 'claude-sonnet-4-5',
            max_tokens: 100,
            tools: [tool('read_table'), tool('read_clock'), tool('read_place')],
            messages,
          },
          { headers: { 'x-heddle-thread': 'tides' } },
        )
        const { content } = await stream.finalMessage()
        messages.push({ role: 'assistant', content })
        const calls = content.filter((block) => block.type === 'tool_use')
        messages.push({
          role: 'user',
          content: calls.map(({ id, name }) => ({
            type: 'tool_result',
            tool_use_id: id,
            content: name === 'read_table' ? LONG : `result of ${name}`,
          })),
        })
        return content
      }
      await ask()
      const second = await ask()
      expect(second.map((block) => (block.type === 'tool_use' ? block.name : block.type))).toEqual([
        'text',
        'read_clock',
        'read_place',
      ])
      expect(await ask()).toMatchObject([{ type: 'text', text: 'At four.' }])
      const [first, , third] = bodiesOf(served)
      expect(first?.tools.map(({ name }) => name)).toEqual(['read_table', 'read_clock', 'read_place', 'heddle_recall'])
      const assistant = third?.messages[3]?.['content'] as JsonObject[]
      expect(assistant.map(({ id, type }) => id ?? type)).toEqual(['text', 'c1', 'r1', 'c2'])
      const results = third?.messages[4]?.['content'] as JsonObject[]
      expect(results.map(({ tool_use_id: id }) => id)).toEqual(['r1', 'c1', 'c2'])
      expect(results[0]?.['content']).toBe(LONG)
    })
  })

  test('goes on with its reply where it waits for the text alone, whole or streamed', async () => {
    await inProject('recalled-alone', async (served) => {
      for (const isStreamed of [false, true]) {
        const client = new Anthropic({ apiKey: 'none', baseURL: served.anthropicUrl, maxRetries: 0 })
        const request: Anthropic.MessageCreateParams = {
          model: 'claude-sonnet-4-5',
          max_tokens: 100,
          tools: [tool('read_table')],
          messages: [{ role: 'user', content: [{ type: 'text', text: LONG.slice(0, 50) }] }],
        }
        const headers = { 'x-heddle-thread': `alone-${isStreamed}` }
        const table = {
          ...request,
          messages: [
            ...request.messages,
            {
              role: 'assistant' as const,
              content: [{ type: 'tool_use' as const, id: 'c0', name: 'read_table', input: {} }],
            },
            {
              role: 'user' as const,
              content: [{ type: 'tool_result' as const, tool_use_id: 'c0', content: LONG }],
            },
          ],
        }
        // The tool is there from the beginning of a conversation on.
        served.upstream.respond((_request, response) => {
          const content = [use('c0', 'read_table', {})]
          response.writeHead(200, { 'content-type': 'application/json' })
          response.end(
            JSON.stringify({
              id: 'm',
              type: 'message',
              role: 'assistant',
              content,
              stop_reason: 'tool_use',
              usage: {},
            }),
          )
        })
        await client.messages.create({ ...request, stream: false }, { headers })
        const start = served.upstream.requests.length
        served.upstream.respond((asked, response) => {
          const body = JSON.parse(asked.body.toString()) as { messages: JsonObject[] }
          const isFirst = served.upstream.requests.length === start + 1
          const content = isFirst
            ? [use('r1', 'heddle_recall', { ref: `[recall:${referenceIn(body.messages)}]`, from_line: 2, to_line: 3 })]
            : [{ type: 'text', text: 'Line 1 says Hull.' }]
          const stopReason = isFirst ? 'tool_use' : 'end_turn'
          const usage = { input_tokens: 50, output_tokens: 5 }
          const whole = { id: 'msg_1', type: 'message', role: 'assistant', content, stop_reason: stopReason, usage }
          response.writeHead(200, { 'content-type': isStreamed ? 'text/event-stream' : 'application/json' })
          response.end(isStreamed ? streamed('msg_1', content, stopReason) : JSON.stringify(whole))
        })
        const message = isStreamed
          ? await client.messages.stream(table, { headers }).finalMessage()
          : await client.messages.create({ ...table, stream: false }, { headers })
        expect(message.content).toMatchObject([{ type: 'text', text: 'Line 1 says Hull.' }])
        expect(message.stop_reason).toBe('end_turn')
        const last = bodiesOf(served).at(-1)?.messages.at(-1)?.['content'] as JsonObject[]
        expect(last).toEqual([
          { type: 'tool_result', tool_use_id: 'r1', content: LONG.split('\n').slice(1, 3).join('\n') },
        ])
      }
    })
  })
})
