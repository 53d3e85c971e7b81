import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { beforeAll, expect, test } from 'vitest'
import { type Served, servePipeline } from '../doors/http-support.js'
import type { Pipeline } from '../support.js'

let pipeline: Pipeline
let http: Served

servePipeline((opened) => {
  ;({ pipeline, http } = opened)
})

const PROJECT = 'referring'
/** One view of a file and one reply for each turn, so that a budget of 4,000 tokens condenses the older ones. */
const viewsOf = (thread: string) =>
  Array.from({ length: 40 }, (_, turn) => {
    const call = { id: `call-${turn}`, name: 'Read', arguments: { file_path: `/repo/${thread}/part${turn}.ts` } }
    return [
      { role: 'assistant' as const, content: '', toolCalls: [call] },
      {
        role: 'tool_result' as const,
        toolCallId: call.id,
        content: `export const ${thread} = ${turn}\nexport type Part${turn} = '${thread}'\n`.repeat(12),
      },
    ]
  }).flat()

beforeAll(async () => {
  const client = pipeline.clientOf(PROJECT)
  await client.agents.put('reader', { settings: { budget: 6_000, rollingWindow: null } })
  for (const thread of ['warp', 'weft']) {
    await client.messages.append({ agent: 'reader', thread, messages: viewsOf(thread) })
    await client.threads.waitUntilSettled(thread)
  }
})

async function connect(headers: Readonly<Record<string, string>> = {}) {
  const { key } = await pipeline.clientOf(PROJECT).keys.create({ name: 'model', role: 'admin' })
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(`${http.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}`, ...headers } },
  })
  await client.connect(transport as never)
  // biome-ignore lint/suspicious/noExplicitAny: tests read it like a program in any language.
  const call = async (name: string, args: Record<string, unknown>): Promise<any> =>
    await client.callTool({ name, arguments: args })
  return { client, call, sessionId: transport.sessionId }
}

const tagsOf = (messages: unknown) =>
  [...JSON.stringify(messages).matchAll(/\[recall:([^\]]+)\]/g)].map(([, reference]) => reference ?? '')

test('a context built over MCP shows full references, each of which recall takes as it is shown', async () => {
  const { client, call } = await connect()
  const { structuredContent: built } = await call('build_context', { thread: 'warp', budget: 6_000 })
  const references = tagsOf(built.messages)
  expect(references.length).toBeGreaterThan(1)
  for (const reference of references) expect(reference).toMatch(/^nexora:\/\/_\/warp\/msg-[0-9a-z]+/)
  expect(built.tokensUsed).toBeLessThanOrEqual(6_000)
  const other = await connect()
  const recalled = await other.call('recall', { ref: `[recall:${references[0]}]` })
  expect(recalled.structuredContent).toMatchObject({ thread: 'warp', content: expect.stringContaining('warp') })
  // Over HTTP, contexts keep the short form.
  const short = await pipeline.clientOf(PROJECT).contexts.build({ thread: 'warp', budget: 6_000 })
  for (const reference of tagsOf(short.messages)) expect(reference).toMatch(/^msg-/)
  await Promise.all([client.close(), other.client.close()])
})

test('a short reference is resolved in the thread that the session named last, then in the project', async () => {
  const owner = pipeline.clientOf(PROJECT)
  const copy = { id: '018f0000-0000-7000-8000-00000000c0de', role: 'user' as const, content: 'the same words' }
  for (const thread of ['warp', 'weft']) await owner.messages.append({ agent: 'reader', thread, messages: [copy] })
  const { items } = await owner.messages.list({ thread: 'warp', limit: 1, order: 'desc' })
  const ref = items[0]?.reference ?? ''

  const { client, call, sessionId } = await connect()
  expect(sessionId).toMatch(/^[0-9a-f-]{36}$/)
  const unnamed = await call('recall', { ref })
  expect(unnamed).toMatchObject({ isError: true })
  expect(unnamed.content[0].text).toMatch(/^AMBIGUOUS_REFERENCE[\s\S]*\/warp\/[\s\S]*\/weft\//)
  for (const thread of ['weft', 'warp']) {
    await call('history', { thread, limit: 1 })
    expect((await call('recall', { ref })).structuredContent).toMatchObject({ thread, content: 'the same words' })
  }
  // A message of another thread is found, too.
  const [other] = (await owner.messages.list({ thread: 'weft', limit: 1, order: 'asc' })).items
  expect((await call('recall', { ref: other?.reference })).structuredContent).toMatchObject({ thread: 'weft' })

  const stranger = await connect()
  expect((await stranger.call('recall', { ref })).isError).toBe(true)
  const preset = await connect({ 'x-heddle-thread': 'weft' })
  expect((await preset.call('recall', { ref })).structuredContent).toMatchObject({ thread: 'weft' })
  await Promise.all([client, stranger.client, preset.client].map((one) => one.close()))
})
