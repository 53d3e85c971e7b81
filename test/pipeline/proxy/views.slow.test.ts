import type { Client } from '@heddle/client/interface'
import type { ProxiedRequestView } from '@heddle/contracts'
import { waitFor } from '@heddle/test-support'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asOwner } from '../../contract/store/erasure/erasure-support.js'
import { openPipeline, type Pipeline } from '../support.js'
import { callRaw, type ProxiedServer, storingIn, withProxy } from './proxy-support.js'

let pipeline: Pipeline

beforeAll(async () => {
  // One server of queues: what a request was made of is in the store, whichever server its messages came by.
  pipeline = await openPipeline('postgres')
  await pipeline.start()
})
afterAll(() => pipeline.close())

interface Message {
  readonly role: string
  readonly content: unknown
}

const page = (number: number) =>
  Array.from({ length: 1_000 }, (_, line) => `page ${number}, line ${line}: some words of it`).join('\n')

/** A conversation that begins with a question; each step adds a call and its result. */
function conversation(steps: number): Message[] {
  const messages: Message[] = [{ role: 'user', content: 'Read the pages.' }]
  for (let step = 0; step < steps; step++) {
    const call = { type: 'tool_use', id: `toolu_${step}`, name: 'read_page', input: { page: step } }
    const result = { type: 'tool_result', tool_use_id: `toolu_${step}`, content: page(step) }
    messages.push({ role: 'assistant', content: [{ type: 'text', text: `Page ${step}.` }, call] })
    messages.push({ role: 'user', content: [result] })
  }
  return messages
}

const HEAD = {
  model: 'claude-sonnet-4-5',
  max_tokens: 100,
  system: 'You read pages.',
  tools: [
    { name: 'read_page', description: 'Reads a page', input_schema: { type: 'object' }, authorization: 'canary-tool' },
  ],
  mcp_servers: [{ url: 'https://example.org', authorization_token: 'canary-server' }],
  metadata: { user_id: 'canary-user' },
}

/** Sends a request and returns its id. */
async function ask(
  { anthropicUrl }: ProxiedServer,
  messages: readonly Message[],
  head: object = HEAD,
): Promise<string> {
  const { headers } = await callRaw(`${anthropicUrl}/v1/messages`, {
    headers: ['x-heddle-mode', 'stub', 'x-heddle-thread', 'pages', 'content-type', 'application/json'],
    body: JSON.stringify({ ...head, messages }),
  })
  return String(headers['x-heddle-context'])
}

async function inProject(
  project: string,
  work: (served: ProxiedServer, client: Client) => Promise<void>,
): Promise<void> {
  const proxy = { backend: storingIn(pipeline), lateMs: 20_000 }
  await withProxy((served) => work(served, pipeline.clientOf(project)), { proxy, gateway: { project } })
}

/** The view of a request, once it is stored with all of its messages. */
async function viewOf({ proxy }: Client, id: string): Promise<ProxiedRequestView> {
  let view: ProxiedRequestView | null = null
  await waitFor(async () => {
    view = await proxy.request({ id }).catch(() => null)
    return view?.items.every(({ messages }) => messages.every(({ state }) => state === 'stored')) ?? false
  })
  if (view === null) throw new Error('no view')
  return view
}

test('a request is shown as it was received and as it was sent, with what stands for what', async () => {
  await inProject('viewed', async (served, client) => {
    const ids: string[] = []
    for (const steps of [0, 1, 2, 3]) ids.push(await ask(served, conversation(steps)))
    const view = await viewOf(client, ids[3] ?? '')
    const body = JSON.stringify({ ...HEAD, messages: conversation(3) })
    expect(view.received?.bytes).toBe(body.length)
    expect(view.sent?.bytes).toBe(served.upstream.requests.at(-1)?.body.length)
    expect(view.received?.sha256).not.toBe(view.sent?.sha256)
    expect(view.items.map(({ kind, sentAs }) => `${kind} ${sentAs}`)).toEqual([
      'user itself',
      ...[0, 1, 2].flatMap(() => ['assistant itself', 'results stub']),
    ])
    const sent = JSON.parse(served.upstream.requests.at(-1)?.body.toString() ?? '') as { messages: Message[] }
    for (const { index, messages, stubs } of view.items.filter(({ sentAs }) => sentAs === 'stub')) {
      expect(page((index - 2) / 2).startsWith(messages[0]?.content ?? '-')).toBe(true)
      expect(messages[0]).toMatchObject({ isCut: true, toolName: 'read_page' })
      expect(stubs).toMatchObject([{ reference: messages[0]?.reference, messageId: messages[0]?.id }])
      expect(sent.messages[index]?.content).toMatchObject([{ content: stubs[0]?.text }])
    }
    expect(view.items[1]?.messages[0]?.toolCalls).toMatchObject([{ name: 'read_page', arguments: { page: 0 } }])
    const first = await viewOf(client, ids[0] ?? '')
    expect(first.items).toHaveLength(1)
    expect(first.received).toEqual(first.sent)
  })
})

test('tools, instructions and parameters are shown, and stored once; credentials are neither', async () => {
  await inProject('viewed-head', async (served, client) => {
    const ids: string[] = []
    for (const steps of [0, 1]) ids.push(await ask(served, conversation(steps)))
    ids.push(await ask(served, conversation(2), { ...HEAD, max_tokens: 200 }))
    const [, second, third] = await Promise.all(ids.map((id) => viewOf(client, id)))
    const texts = (view?: ProxiedRequestView) =>
      Object.fromEntries(view?.head?.fields.map(({ name, text }) => [name, text]) ?? [])
    expect(texts(second)).toEqual({
      system: 'You read pages.',
      tools: JSON.stringify([{ name: 'read_page', description: 'Reads a page', input_schema: { type: 'object' } }]),
      parameters: '{"model":"claude-sonnet-4-5","max_tokens":100}',
    })
    expect(third?.head).toMatchObject({ omitted: 2 })
    expect(texts(third)['parameters']).toContain('200')
    const stored = await asOwner(
      pipeline.databaseUrl,
      (sql) => sql<{ text: string }[]>`
        select text from heddle.proxied_texts
        where kind = 'head' and thread_id = (select thread_id from heddle.proxied_requests where id = ${ids[0] ?? ''})`,
    )
    // The instructions, the tools, and the parameters twice.
    expect(stored).toHaveLength(4)
    expect(stored.filter(({ text }) => text.includes('canary'))).toEqual([])
  })
})

test('a long conversation is shown page by page, and costs little beside its messages', async () => {
  await inProject('viewed-long', async (served, client) => {
    const words = (step: number) => `step ${step}: ${'some words of it '.repeat(20)}`
    const messages: Message[] = []
    let received = 0
    let id = ''
    for (let step = 0; step < 60; step++) {
      messages.push({ role: 'user', content: words(step) })
      received += JSON.stringify({ ...HEAD, messages }).length
      id = await ask(served, messages)
      messages.push({ role: 'assistant', content: words(-step) })
    }
    const first = await viewOf(client, id)
    expect(first.items).toHaveLength(50)
    const rest = await client.proxy.request({ id, cursor: first.nextCursor ?? '', limit: 100 })
    expect(rest).toMatchObject({ head: null, nextCursor: null })
    expect([...first.items, ...rest.items].map(({ messages: [message] }) => message?.content)).toEqual(
      messages.slice(0, -1).map(({ content }) => content),
    )
    const [size] = await asOwner(
      pipeline.databaseUrl,
      (sql) => sql<{ bytes: number }[]>`
        select sum(pg_column_size(view.*))::integer as bytes
        from heddle.proxied_views as view
        where thread_id = (select thread_id from heddle.proxied_requests where id = ${id})`,
    )
    expect(size?.bytes).toBeLessThan(60 * 1_000)
    expect(size?.bytes).toBeLessThan(received / 10)
  })
})

test('an erased message is gone from the views, with the text that stood for it, also after it is sent again', async () => {
  await inProject('viewed-erased', async (served, client) => {
    const ids: string[] = []
    for (const steps of [1, 2]) ids.push(await ask(served, conversation(steps)))
    const view = await viewOf(client, ids[1] ?? '')
    const message = view.items[2]?.messages[0]?.id ?? ''
    await client.messages.erase({ thread: 'pages', messageId: message })
    ids.push(await ask(served, conversation(3)))
    for (const id of ids) {
      await waitFor(async () => (await client.proxy.request({ id }).catch(() => null))?.isRecorded === true)
      const { items } = await client.proxy.request({ id })
      expect(items[2]?.messages[0]).toMatchObject({ state: 'erased', content: '' })
      expect(items[2]?.stubs).toMatchObject([{ text: null }])
      expect(JSON.stringify(items)).not.toContain('page 0, line')
    }
  })
})

test('a request that the provider refused is shown, too, and one of another project is not', async () => {
  await inProject('viewed-refused', async (served, client) => {
    served.upstream.respond((_request, response) => {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end('{"type":"error","error":{"type":"invalid_request_error","message":"no"}}')
    })
    const id = await ask(served, conversation(0))
    await waitFor(async () => (await client.proxy.request({ id }).catch(() => null)) !== null)
    const view = await client.proxy.request({ id })
    expect(view).toMatchObject({ isRecorded: true, request: { status: 400 } })
    expect(view.items).toMatchObject([{ kind: 'user', messages: [{ state: 'missing' }] }])
    await expect(pipeline.clientOf('other').proxy.request({ id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
