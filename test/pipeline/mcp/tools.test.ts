import { fileURLToPath } from 'node:url'
import { type AccessRole, mcpTools } from '@heddle/contracts'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Served, servePipeline } from '../doors/http-support.js'
import type { Pipeline } from '../support.js'

const EXECUTABLE = fileURLToPath(new URL('../../../packages/cli/bin/heddle.js', import.meta.url))

let pipeline: Pipeline
let http: Served

servePipeline((opened) => {
  ;({ pipeline, http } = opened)
})

async function keyOf(project: string, role: AccessRole = 'admin'): Promise<string> {
  return (await pipeline.clientOf(project).keys.create({ name: role, role })).key
}

async function connectHttp(key: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const headers = { authorization: `Bearer ${key}` }
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${http.url}/mcp`), {
      requestInit: { headers },
    }) as never,
  )
  return client
}

async function connectStdio(key: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const env = { PATH: process.env['PATH'] ?? '', HEDDLE_KEY: key }
  const args = [EXECUTABLE, 'mcp', '--url', http.url]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'pipe' }))
  return client
}

// biome-ignore lint/suspicious/noExplicitAny: tests read it like a program in any language.
type Result = any

const transports = [
  { transport: 'Streamable HTTP', connect: connectHttp, project: 'acme' },
  { transport: 'standard input and output', connect: connectStdio, project: 'globex' },
]

describe.each(transports)('over $transport', ({ connect, project }) => {
  let client: Client
  const call = async (name: string, args: Record<string, unknown>): Promise<Result> =>
    await client.callTool({ name, arguments: args })
  beforeAll(async () => {
    client = await connect(await keyOf(project))
  })
  afterAll(async () => {
    await client?.close()
  })

  test('every tool is listed with its input, output and description, and can be called', async () => {
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(Object.keys(mcpTools))
    for (const tool of tools) {
      expect(tool).toMatchObject({ inputSchema: { type: 'object' }, outputSchema: { type: 'object' } })
      const { readOnlyHint } = mcpTools[tool.name as keyof typeof mcpTools].annotations
      // The protocol assumes that a tool without the hint changes something.
      expect({ readOnlyHint: false, ...tool.annotations }).toMatchObject({ openWorldHint: false, readOnlyHint })
    }
    const content = 'the pelican lands at noon'
    const messages = [{ role: 'user', content }]
    const appended = await call('append_messages', { agent: 'coder', thread: 'run', messages })
    expect(appended.structuredContent).toMatchObject({ stored: 1 })
    const history = await call('history', { thread: 'run' })
    expect(history.structuredContent.items).toMatchObject([messages[0]])
    expect(JSON.parse(history.content[0].text)).toEqual(history.structuredContent)
    const find = async () => (await call('search', { query: 'pelican' })).structuredContent.items
    await expect.poll(find, { timeout: 10_000 }).toHaveLength(1)
    const [{ ref }] = await find()
    expect((await call('recall', { ref })).structuredContent).toMatchObject({ content })
    const built = await call('build_context', { thread: 'run', budget: 4_000, format: 'openai-chat' })
    expect(built.structuredContent.messages.at(-1)).toEqual(messages[0])
    expect((await call('clear_context', { agent: 'coder' })).structuredContent).toMatchObject({ epoch: 1 })

    const { id } = built.structuredContent
    const [resource] = (await client.readResource({ uri: `heddle://contexts/${id}` })).contents as Result[]
    expect(JSON.parse(resource.text)).toMatchObject({ id, receipt: expect.any(Object) })
    const [entry] = (await client.readResource({ uri: `heddle://recall/${encodeURIComponent(ref)}` }))
      .contents as Result[]
    expect(entry.text).toBe(content)
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(6)
  })

  test('the state of a run, with the references of its iterations, is a resource', async () => {
    const at = { agent: 'runner', thread: 'night run' }
    const owner = pipeline.clientOf(project)
    await owner.threads.put(at.thread, { agent: at.agent, goal: 'Count the terns' })
    await owner.iterations.append({ ...at, iterations: [{ prompt: 'count', output: 'I counted 41 terns.' }] })
    const uri = `heddle://runs/${encodeURIComponent(at.thread)}`
    const [resource] = (await client.readResource({ uri })).contents as Result[]
    const state = JSON.parse(resource.text)
    expect(state).toEqual(await owner.iterations.loop(at.thread))
    expect(state).toMatchObject({ goal: 'Count the terns', totalIterations: 1, summary: null })
    const [{ reference, output }] = state.iterations
    const recalled = await call('recall', { ref: reference, thread: at.thread })
    expect(recalled.structuredContent).toMatchObject({ content: output })
    await expect(client.readResource({ uri: 'heddle://runs/nobody' })).rejects.toThrow('NOT_FOUND')
  })

  test('an append with a context stores its messages and returns the context with them', async () => {
    const messages = [{ role: 'user', content: 'and what about the heron?' }]
    const given = { agent: 'coder', thread: 'one call', messages, context: { budget: 4_000 } }
    const { structuredContent } = await call('append_messages', given)
    expect(structuredContent).toMatchObject({ stored: 1, context: { messages } })
    const refused = await call('append_messages', { ...given, context: { budget: 1 } })
    expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('BUDGET_TOO_SMALL') }] })
    const history = await call('history', { thread: 'one call' })
    expect(history.structuredContent.items).toHaveLength(2)
  })

  test('messages are appended in the format of a provider, and refused with paths in that format', async () => {
    const toolCall = { id: 'call_1', type: 'function', function: { name: 'read_tide', arguments: '{}' } }
    const append = (message: object) =>
      call('append_messages', { agent: 'coder', thread: 'forms', format: 'openai-chat', messages: [message] })
    await append({ role: 'assistant', content: null, tool_calls: [toolCall] })
    await append({ role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'at four' }] })
    const { structuredContent } = await call('history', { thread: 'forms', order: 'asc' })
    expect(structuredContent.items).toMatchObject([
      { role: 'assistant', toolCalls: [{ id: 'call_1', name: 'read_tide' }] },
      { role: 'tool_result', content: 'at four', toolCallId: 'call_1' },
    ])
    const refused = await append({ role: 'tool', content: 'at four' })
    expect(refused).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('messages.0.tool_call_id') }],
    })
  })

  test('a message is found by its id at the source, and the history of an agent has all of its threads', async () => {
    for (const thread of ['ask', 'answer']) {
      const messages = [{ role: 'user', content: `${thread} about terns`, sourceId: `chat-${thread}` }]
      await call('append_messages', { agent: 'router', thread, messages })
    }
    const threadsOf = async (args: object) =>
      (await call('history', { ...args })).structuredContent.items.map(({ thread }: Result) => thread)
    expect(await threadsOf({ sourceId: 'chat-ask' })).toEqual(['ask'])
    expect(await threadsOf({ agent: 'router' })).toEqual(['answer', 'ask'])
    for (const args of [{}, { agent: 'router', thread: 'ask' }]) {
      const refused = await call('history', args)
      expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('thread') }] })
    }
  })

  test('messages that the window hides are named by the append, and by the context without them', async () => {
    const messages = [{ role: 'user', content: 'the pelican of last year', sentAt: '2025-02-12T14:30:00Z' }]
    const old = { agent: 'archivist', thread: 'old', messages }
    const appended = await call('append_messages', old)
    expect(appended.structuredContent.warnings).toMatchObject([{ reason: 'outside-window', count: 1 }])
    const built = await call('build_context', { thread: 'old', message: 'go on' })
    expect(built.structuredContent.notes[0]).toContain('the only message of the thread is not shown: 1 is outside')
    const wide = await call('build_context', { thread: 'old', rollingWindow: null })
    expect(wide.structuredContent).toMatchObject({ messages: [{ content: messages[0]?.content }], notes: [] })
    const made = { agent: 'keeper', thread: 'kept', messages, newAgentRollingWindow: null }
    expect((await call('append_messages', made)).structuredContent).not.toHaveProperty('warnings')
  })

  test('a context is limited by a scope, and a missing thread is named', async () => {
    for (const [thread, content] of [
      ['lead', 'the plan of the loom'],
      ['helper', 'the index of the loom'],
      ['aside', 'the secret of the loom'],
    ])
      await call('append_messages', { agent: 'briefer', thread, messages: [{ role: 'user', content }] })
    const scope = { threads: ['lead', 'helper'], since: '1h', items: false, memories: false }
    const { structuredContent: briefing } = await call('build_context', { thread: 'lead', scope })
    const text = JSON.stringify(briefing.messages)
    expect(text).toContain('the plan of the loom')
    expect(text).toContain('the index of the loom')
    expect(text).not.toContain('secret')
    const refused = await call('build_context', { thread: 'lead', scope: { threads: ['lead', 'nowhere'] } })
    expect(refused).toMatchObject({ isError: true })
    expect(refused.content[0].text).toContain('has no thread "nowhere"')
  })

  test('a window is saved, listed, cleared and restored, and read as a resource', async () => {
    const messages = [{ role: 'user', content: 'the heron waits' }]
    await call('append_messages', { agent: 'saver', thread: 'saved', messages })
    const { structuredContent: saved } = await call('save_snapshot', {
      agent: 'saver',
      description: 'before the clear',
    })
    expect(saved).toMatchObject({ agent: 'saver', description: 'before the clear', messageCount: 1 })
    expect((await call('list_snapshots', { agent: 'saver' })).structuredContent).toEqual({
      items: [saved],
      nextCursor: null,
    })
    const shown = async () => {
      const { structuredContent } = await call('build_context', { thread: 'saved', message: 'what was there?' })
      return JSON.stringify(structuredContent.messages)
    }
    await call('clear_context', { agent: 'saver' })
    expect(await shown()).not.toContain('heron')
    const { structuredContent: restored } = await call('restore_snapshot', { id: saved.id })
    expect(restored).toMatchObject({ id: saved.id, messages: 1, restored: 1, threads: ['saved'] })
    expect(await shown()).toContain('heron')
    const again = await call('restore_snapshot', { id: saved.id })
    expect(again.structuredContent).toMatchObject({ restored: 0, present: 1 })

    const [resource] = (await client.readResource({ uri: `heddle://snapshots/${saved.id}` })).contents as Result[]
    expect(JSON.parse(resource.text)).toMatchObject({
      session_id: saved.id,
      messages: [{ content: 'the heron waits' }],
    })

    const listed: string[] = []
    let cursor: string | undefined
    do {
      const page = await client.listResources(cursor === undefined ? {} : { cursor })
      listed.push(...page.resources.map(({ uri }) => uri))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(listed).toContain(`heddle://snapshots/${saved.id}`)
    const contexts = listed.filter((uri) => uri.startsWith('heddle://contexts/'))
    expect(contexts.length).toBeGreaterThanOrEqual(3)
    for (const uri of listed) expect((await client.readResource({ uri })).contents).toHaveLength(1)
    await expect(client.listResources({ cursor: 'nonsense' })).rejects.toThrow('VALIDATION_ERROR')
  })

  test('the threads of an agent are listed briefly, page by page', async () => {
    for (const thread of ['loom/1', 'loom/2', 'loom/3']) {
      await call('append_messages', { agent: 'lister', thread, messages: [{ role: 'user', content: 'begin' }] })
    }
    const { structuredContent: first } = await call('list_threads', { agent: 'lister', limit: 2 })
    expect(first.items).toEqual(
      ['loom/1', 'loom/2'].map((thread) => ({
        thread,
        agent: 'lister',
        title: null,
        status: null,
        messages: 1,
        lastMessageAt: expect.stringMatching(/^20.*Z$/),
      })),
    )
    const rest = await call('list_threads', { agent: 'lister', limit: 2, cursor: first.nextCursor })
    expect(rest.structuredContent).toMatchObject({ items: [{ thread: 'loom/3' }], nextCursor: null })
    const underTheOldName = await call('list_threads', { agent: 'lister', limit: 2, after: first.nextCursor })
    expect(underTheOldName.structuredContent).toEqual(rest.structuredContent)
    const refused = async (args: Record<string, unknown>) => (await call('list_threads', args)).content[0].text
    expect(await refused({ agent: 'lister', cursor: 'zzz' })).toMatch(/^VALIDATION_ERROR: cursor: /)
    expect(await refused({ agent: 'nobody' })).toMatch(/^NOT_FOUND: agent "nobody"/)
    expect(await refused({ agnt: 'lister' })).toContain('agnt: is not known; did you mean agent?')
  })

  test.each([
    ['a name that is none', 'tools/call', { name: 7 }, 'params: name: must be a text'],
    ['no name', 'tools/call', {}, 'params: name: is needed'],
    ['no params', 'tools/call', undefined, 'params: name: is needed'],
    [
      'arguments that are a text',
      'tools/call',
      { name: 'recall', arguments: 'msg' },
      'params: arguments: must be an object',
    ],
    [
      'arguments that are a list',
      'tools/call',
      { name: 'recall', arguments: [] },
      'params: arguments: must be an object',
    ],
    [
      'a mistyped key',
      'tools/call',
      { name: 'recall', argumets: {} },
      'argumets: is not known; did you mean arguments?',
    ],
    ['a mistyped tool', 'tools/call', { name: 'serch' }, 'no such tool for this key; did you mean search?'],
    ['a cursor that is a number', 'resources/list', { cursor: 7 }, 'params: cursor: must be a text'],
    ['an address that is missing', 'resources/read', {}, 'params: uri: is needed'],
  ])('%s is refused with its fault', async (_, method, params, rule) => {
    const asked = client.request({ method, ...(params && { params }) } as never, z.unknown() as never)
    const error = await asked.catch((refused: unknown) => refused)
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(rule) })
    expect(error).toMatchObject({ data: { code: expect.stringMatching(/^(VALIDATION_ERROR|NOT_FOUND)$/) } })
  })

  test('an unknown method is refused as unknown', async () => {
    const asked = client.request({ method: 'logging/setLevel' } as never, z.unknown() as never)
    await expect(asked).rejects.toMatchObject({ code: -32601 })
  })

  test('the refusal of a snapshot says which call to make next', async () => {
    const text = async (name: string, args: Record<string, unknown>) => {
      const { isError, content } = await call(name, args)
      return isError === true ? (content[0].text as string) : 'done'
    }
    expect(await text('restore_snapshot', { id: '018f0000-0000-7000-8000-00000000dead' })).toMatch(
      /^NOT_FOUND[\s\S]*list_snapshots/,
    )
    expect(await text('restore_snapshot', { id: 'the one of yesterday' })).toMatch(
      /^VALIDATION_ERROR[\s\S]*list_snapshots/,
    )
    expect(await text('save_snapshot', { agent: 'nobody' })).toMatch(/^NOT_FOUND[\s\S]*append_messages/)
  })

  test('a thread is compacted on demand, and shows its summary from then on', async () => {
    const messages = Array.from({ length: 40 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `Tern ${index} was counted on the north shore. ${'The tide was low and the wind was calm. '.repeat(20)}`,
    }))
    await pipeline.clientOf(project).agents.put('counter', { settings: { budget: 120_000, maxSummaryTokens: 500 } })
    await call('append_messages', { agent: 'counter', thread: 'long', messages })
    await pipeline.clientOf(project).threads.waitUntilSettled('long')
    const { structuredContent: made } = await call('compress', { thread: 'long' })
    expect(made).toMatchObject({ thread: 'long', compacted: true, summary: { text: expect.stringContaining('Tern') } })
    expect(made.tokensAfter).toBeLessThan(made.tokensBefore / 2)
    const built = await call('build_context', { thread: 'long' })
    expect(built.structuredContent).toMatchObject({ summaryUsed: true })
    const again = await call('compress', { thread: 'long' })
    expect(again.structuredContent).toMatchObject({ compacted: false, summary: { id: made.summary.id } })
    const refused = await call('compress', { thread: 'nowhere' })
    expect(refused).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^NOT_FOUND[\s\S]*append_messages/) }],
    })
  })

  test('a message is erased by its reference', async () => {
    const messages = [{ role: 'user', content: 'a secret' }]
    await call('append_messages', { agent: 'coder', thread: 'with a secret', messages })
    const history = async () => (await call('history', { thread: 'with a secret' })).structuredContent.items[0]
    const { reference: ref } = await history()
    const erased = await call('erase_message', { ref, thread: 'with a secret' })
    expect(erased.structuredContent).toMatchObject({ kind: 'messages', removed: { messages: 1 }, finished: true })
    expect(await history()).toMatchObject({ content: '', keptAside: 'erased' })
  })

  test('a refusal says what was wrong and what to do, and the connection stays open', async () => {
    const gone = await call('history', { thread: 'nowhere' })
    expect(gone).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('NOT_FOUND: thread') }] })
    const bad = await call('recall', { ref: 7 })
    expect(bad).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('VALIDATION_ERROR: recall: ref') }],
    })
    await expect(client.callTool({ name: 'erase_all', arguments: {} })).rejects.toThrow('no such tool')
    await expect(client.readResource({ uri: 'file:///etc/passwd' })).rejects.toThrow('NOT_FOUND')
    expect((await client.listTools()).tools.length).toBeGreaterThan(0)
  })
})

test('a key sees the tools of its role, and other tools refuse it', async () => {
  const client = await connectHttp(await keyOf('initech', 'produce'))
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
    'pin',
    'compress',
    'uncompact',
    'put_fact',
    'retract_fact',
    'append_messages',
    'memory_insert',
    'memory_replace',
    'memory_rethink',
    'save_snapshot',
    'restore_snapshot',
    'clear_context',
  ])
  await expect(client.callTool({ name: 'history', arguments: { thread: 'run' } })).rejects.toThrow('no such tool')
  expect((await client.listResourceTemplates()).resourceTemplates).toEqual([])
  await client.close()
})

test('a model edits the blocks of its conversation by their labels, and a late change is refused with the current one', async () => {
  const blocks = pipeline.clientOf('hooli').blocks
  const messages = [{ role: 'user' as const, content: 'hello' }]
  await pipeline.clientOf('hooli').messages.append({ agent: 'coder', thread: 'run', messages, ack: 'stored' })
  await blocks.put({ scope: 'agent', owner: 'coder', label: 'human' }, { value: 'tea' })
  const client = await connectHttp(await keyOf('hooli', 'admin'))
  const call = async (name: string, given: object) => {
    const { structuredContent, content, isError } = await client.callTool({ name, arguments: { ...given } })
    return isError === true ? JSON.stringify(content) : structuredContent
  }
  expect(await call('memory_blocks', { thread: 'run' })).toMatchObject({ items: [{ label: 'human', version: 1 }] })
  const human = { scope: 'agent', label: 'human' }
  expect(await call('memory_insert', { ...human, text: 'cake' })).toMatchObject({ version: 2, value: 'tea\ncake' })
  expect(await call('memory_replace', { ...human, oldText: 'tea', newText: 'milk' })).toMatchObject({ version: 3 })
  const late = await call('memory_rethink', { ...human, value: 'x', ifVersion: 1 })
  expect(late).toContain('CONFLICT')
  expect(late).toContain('has version 3')
  const plan = { scope: 'agent', owner: 'planner', label: 'plan' } as const
  await pipeline.clientOf('hooli').agents.put('planner', {})
  await blocks.put(plan, { value: 'go' })
  await blocks.grant(plan, { to: 'coder', mode: 'write' })
  const shared = { scope: 'agent', label: 'planner/plan' }
  expect(await call('memory_blocks', { thread: 'run' })).toMatchObject({ items: [{ label: 'human' }, shared] })
  expect(await call('memory_insert', { ...shared, text: 'on' })).toMatchObject({ version: 2, changedBy: 'coder' })
  await blocks.grant(plan, { to: 'coder', mode: 'read' })
  expect(await call('memory_insert', { ...shared, text: 'x' })).toContain('FORBIDDEN')
  expect(await blocks.get({ scope: 'agent', owner: 'coder', label: 'human' })).toMatchObject({ value: 'milk\ncake' })
  await client.close()
})

test('MCP requests with an unknown key, a foreign origin or another HTTP method are refused', async () => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const forged = { ...headers, authorization: `Bearer hdl_${'A'.repeat(64)}` }
  expect((await fetch(`${http.url}/mcp`, { method: 'POST', body, headers: forged })).status).toBe(401)
  expect(
    (await fetch(`${http.url}/mcp`, { method: 'POST', body, headers: { ...headers, origin: 'http://evil' } })).status,
  ).toBe(403)
  expect((await fetch(`${http.url}/mcp`)).status).toBe(405)
})
