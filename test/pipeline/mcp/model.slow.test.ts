import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import OpenAI from 'openai'
import { expect, test } from 'vitest'
import {
  type ProtocolReply,
  type ProtocolRequest,
  startProtocolServer,
} from '../../support/src/servers/protocol-server.js'
import { type Served, servePipeline } from '../doors/http-support.js'
import type { Pipeline } from '../support.js'
import { openTenant, session, THREAD } from '../tenant.js'

let pipeline: Pipeline
let http: Served

servePipeline((opened) => {
  ;({ pipeline, http } = opened)
})

/** Decides on its next call from the text that it was sent, as a model does: its context, and the answer to its last call. */
function scripted({ user, number }: ProtocolRequest): ProtocolReply {
  const [context = '', answer = ''] = user.split('\n=== answer ===\n')
  const references = [...context.matchAll(/\[recall:(msg-[0-9a-z]+)\]/g)].map(([, reference]) => reference)
  const call = (name: string, input: object) => ({ kind: 'call', id: `call-${number}`, name, input }) as const
  switch (number) {
    case 1:
      return call('search', { query: 'part', thread: THREAD, limit: 3 })
    case 2:
      return call('recall', { ref: references[0] })
    case 3:
      return call('summaries', {})
    case 4:
      return call('summaries', { summary: JSON.parse(answer).items[0].id, limit: 5 })
    case 5:
      return call('archive', { kinds: ['file_view'], limit: 2 })
    case 6:
      return call('uncompact', { ref: references.at(-1) })
    case 7:
      return call('why', {})
    case 8:
      return call('why', { ref: references[0] })
    case 9:
      return call('pin', { ref: references[0] })
    default:
      return { kind: 'text', text: 'I have found it.' }
  }
}

test('a model finds, recalls, pins, undoes and expands with the tools alone, by the references of its context', async () => {
  const messages = session('model', 60)
  const tenant = await openTenant(pipeline, 'modelled')
  await tenant.send(messages)
  await tenant.whenSettled(messages.length)
  const built = await tenant.client.contexts.build({ thread: THREAD, format: 'openai-chat' })
  const context = built.messages.map((message) => JSON.stringify(message)).join('\n')

  const provider = await startProtocolServer(scripted)
  const { key } = await pipeline.clientOf('modelled').keys.create({ name: 'model', role: 'admin' })
  const mcp = new Client({ name: 'host', version: '1' })
  const headers = { authorization: `Bearer ${key}` }
  await mcp.connect(
    new StreamableHTTPClientTransport(new URL(`${http.url}/mcp`), { requestInit: { headers } }) as never,
  )
  const openai = new OpenAI({ apiKey: 'test', baseURL: provider.openAiUrl })
  // biome-ignore lint/suspicious/noExplicitAny: tests read it like a program in any language.
  const transcript: { name: string; input: any; answer: any }[] = []
  try {
    let answer = ''
    for (let turn = 0; turn < 12; turn++) {
      const stream = openai.chat.completions.stream({
        model: 'test-model',
        messages: [{ role: 'user', content: `${context}\n=== answer ===\n${answer}` }],
      })
      const { choices } = await stream.finalChatCompletion()
      const [call] = choices[0]?.message.tool_calls ?? []
      if (call === undefined || call.type !== 'function') break
      const { name } = call.function
      const input = JSON.parse(call.function.arguments)
      // biome-ignore lint/suspicious/noExplicitAny: tests read it like a program in any language.
      const result: any = await mcp.callTool({ name, arguments: input })
      expect(result.isError, `${name}: ${result.content[0].text}`).not.toBe(true)
      transcript.push({ name, input, answer: result.structuredContent })
      answer = result.content[0].text
    }
  } finally {
    await mcp.close()
    await provider.close()
  }
  const [found, recalled, listed, expanded, archived, undone, told, explained, pinned] = transcript
  expect(transcript.map(({ name }) => name)).toEqual([
    'search',
    'recall',
    'summaries',
    'summaries',
    'archive',
    'uncompact',
    'why',
    'why',
    'pin',
  ])
  expect(found?.answer.items.length).toBeGreaterThan(0)
  const original = messages.find(({ message }) => message.id === recalled?.answer.messageId)?.message.content
  expect([recalled?.input.ref, recalled?.answer.content]).toEqual([expect.stringMatching(/^msg-/), original])
  expect(pinned?.answer).toMatchObject({ thread: THREAD, action: 'pinned', messages: 1 })
  expect(undone?.answer).toMatchObject({ thread: THREAD, action: 'undone', messages: 1 })
  expect(listed?.answer.items[0]).toMatchObject({ kind: 'whole', parent: null, summary: expect.any(String) })
  expect(expanded?.answer.items).toHaveLength(5)
  const contents = new Set(messages.map(({ message }) => message.content))
  for (const { content } of expanded?.answer.items ?? []) expect(contents.has(content)).toBe(true)
  expect(told?.answer).toMatchObject({ context: built.id })
  expect(told?.answer.lines[0]).toBe(
    `${built.tokensUsed} of ${built.budget} tokens, strategy ${built.strategy}; verbatim it would be ${built.receipt.tokensRaw}.`,
  )
  expect(told?.answer.lines.join('\n')).toMatch(/\d+ messages.*: covered, .*: summarized\./)
  expect(explained?.answer.lines).toEqual([expect.stringMatching(/^msg-.* \(\w+\): \w+, \d+ of \d+ tokens: /)])
  expect(archived?.answer.items[0]).toMatchObject({ kind: 'file_view', ref: expect.stringMatching(/^nexora:/) })
  for (const { name, input, answer } of transcript)
    process.stdout.write(`model: ${name} ${JSON.stringify(input)} -> ${JSON.stringify(answer).slice(0, 160)}\n`)
  await tenant.whenSettled(messages.length)
  const next = await tenant.client.contexts.build({ thread: THREAD })
  const entry = next.receipt.entries.find(({ messageId }) => messageId === recalled?.answer.messageId)
  expect(entry).toMatchObject({ mode: 'raw', reason: 'pinned' })
})
