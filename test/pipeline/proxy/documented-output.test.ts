import { readFile } from 'node:fs/promises'
import { waitFor } from '@heddle/test-support'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'
import { callRaw } from './proxy-support.js'
import { throughGateway } from './through-gateway.js'

const PAGE = new URL('../../../docs/proxy.md', import.meta.url)

let pipeline: Pipeline

beforeAll(async () => {
  // One server of queues: the output is that of rows in the store.
  pipeline = await openPipeline('postgres')
  await pipeline.start(['ingest'])
})
afterAll(() => pipeline?.close())

/** The output of a command in the page; ids of requests are new each time. */
async function documented(command: string): Promise<string> {
  const page = await readFile(PAGE, 'utf8')
  const block = page.split('```').find((each) => each.trimStart().startsWith(`$ ${command}`)) ?? ''
  return comparable(block.trim().split('\n').slice(1).join('\n'))
}

const comparable = (text: string): string =>
  text.trimEnd().replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'ID')

test('the page about the proxy shows what its commands print', async () => {
  const page = Array.from({ length: 1_000 }, (_, line) => `page 0, line ${line}: some words of it`).join('\n')
  const messages = [
    { role: 'user', content: 'Read the page.' },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I read it.' },
        { type: 'tool_use', id: 'toolu_0', name: 'read_page', input: { page: 0 } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_0', content: page }] },
  ]
  await throughGateway(pipeline, 'default', async ({ upstream, http, client, heddle }) => {
    upstream.respond((_request, response) => {
      const usage = {
        ...{ input_tokens: 9, output_tokens: 23, cache_read_input_tokens: 0 },
        cache_creation_input_tokens: 937 * (upstream.requests.length - 1),
      }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify({ type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Yes.' }], usage }),
      )
    })
    let id = ''
    for (const sent of [messages.slice(0, 1), messages]) {
      const { headers } = await callRaw(`${http.url}/anthropic/v1/messages`, {
        headers: ['x-heddle-mode', 'stub', 'x-heddle-thread', 'pages', 'content-type', 'application/json'],
        body: JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 100, messages: sent }),
      })
      id = String(headers['x-heddle-context'])
    }
    await waitFor(async () => {
      const view = await client.proxy.request({ id }).catch(() => null)
      return view?.items.every(({ messages: all }) => all.every(({ state }) => state === 'stored')) ?? false
    })
    expect(comparable((await heddle('proxy', 'show', id)).stdout)).toBe(await documented('heddle proxy show'))
    expect(comparable((await heddle('proxy', 'stats')).stdout)).toBe(await documented('heddle proxy stats'))
  })
})
