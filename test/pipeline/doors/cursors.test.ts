import { randomUUID } from 'node:crypto'
import { createClient as createHttpClient, type RemoteClient } from '@heddle/client/http'
import { threadIdOf } from '@heddle/core'
import { insertProxiedRequest } from '@heddle/store'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'
import { type Served, serve } from './http-support.js'

let pipeline: Pipeline
let http: Served

beforeAll(async () => {
  // One server of queues: lists are read from the store alone.
  pipeline = await openPipeline('postgres')
  await pipeline.start()
  http = await serve(pipeline)
  await fill(pipeline.client)
  const [summary] = (await pipeline.client.summaries.list({ thread: 'run' })).items
  if (summary === undefined) throw new Error('the thread was not compacted')
  summaryId = summary.id
})
afterAll(async () => {
  await http?.gateway.close()
  await pipeline?.close()
})

const AGENTS = ['coder', 'reviewer']
const THREADS = ['run', 'walk']
const SOURCE_ID = 'channel-1'

/** Of thread `run`, known once it was compacted. */
let summaryId: string

function readParts() {
  return Array.from({ length: 40 }, (_, turn) => {
    const call = { id: `call-${turn}`, name: 'Read', arguments: { file_path: `/repo/src/part${turn}.ts` } }
    const content = `export function part${turn}() {\n  return ${turn}\n}\n`.repeat(12)
    return [
      { role: 'user' as const, content: `What is in part ${turn}?`, sourceId: SOURCE_ID },
      { role: 'assistant' as const, content: '', toolCalls: [call] },
      { role: 'tool_result' as const, toolCallId: call.id, content },
    ]
  }).flat()
}

/** Two entries for each list, so that it has a second page with one entry per page. */
async function fill(client: RemoteClient): Promise<void> {
  for (const agent of AGENTS) {
    await client.agents.put(agent, { settings: { budget: 6_000, strategy: 'tree', tree: { leafTokens: 500 } } })
    for (const value of ['calm', 'brief'])
      await client.blocks.put({ scope: 'agent', owner: agent, label: 'human' }, { value })
    for (const name of ['calm', 'brief']) {
      await client.items.put(agent, { type: 'rule', name, text: `Be ${name}.`, include: 'manual' })
      await client.facts.put(agent, randomUUID(), { subject: agent, predicate: 'is', object: name })
    }
  }
  for (const [owner, to] of [AGENTS, AGENTS.toReversed()] as [string, string][])
    await client.blocks.grant({ scope: 'agent', owner, label: 'human' }, { to, mode: 'read' })
  for (const thread of THREADS) {
    await client.messages.append({ agent: 'coder', thread, messages: readParts() })
    await client.iterations.append({
      agent: 'coder',
      thread,
      iterations: [1, 2].map((iterationNumber) => ({ iterationNumber, prompt: 'go on', output: 'done' })),
    })
    for (const name of ['tests', 'build']) await client.processes.put(thread, name, { status: 'running' })
    for (let count = 0; count < 2; count++) await client.contexts.build({ thread, message: `what now ${count}` })
    await pipeline.client.threads.waitUntilSettled(thread, { deadlineMs: 60_000 })
  }
  for (const thread of ['run', 'walk']) {
    for (const id of [randomUUID(), relayed[thread] ?? '']) await recordRelayed(pipeline, thread, id)
  }
  for (let count = 0; count < 2; count++) await client.snapshots.save({ agent: 'coder', description: `save ${count}` })
}

/** The ids of requests that are listed entry by entry, by their threads. */
const relayed: Readonly<Record<string, string>> = { run: randomUUID(), walk: randomUUID() }

/** A request to a provider, as the proxy records it. */
async function recordRelayed({ store, projectId }: Pipeline, thread: string, id: string): Promise<void> {
  const entry = { kind: 'user' as const, tokens: 1, bytes: 1, messages: [] }
  const delta = {
    ...{ keptEntries: 0, entries: [entry, entry], stubs: [], removedStubs: [], recalls: [], removedRecalls: [] },
    ...{ cover: null, head: { tokens: 1, fields: [], omitted: 0 }, hasRecallTool: false },
  }
  const hash = new Uint8Array(32)
  const bytes = { bytesReceived: 2, bytesSent: 2, hashReceived: hash, hashSent: hash }
  const view = { id, baseId: null, depth: 0, delta, texts: [], ...bytes }
  const row = {
    ...{
      id,
      threadId: threadIdOf(projectId, thread),
      thread,
      upstream: 'openai',
      model: 'm',
      reasons: [],
    },
    ...{
      protocol: 'openai-chat' as const,
      mode: 'observe' as const,
      modeSource: 'header' as const,
      isControl: false,
      epoch: 1,
      passed: null,
    },
    ...{
      entries: 1,
      stubs: 0,
      coveredEntries: 0,
      tokensReceived: 1,
      tokensSent: 1,
      tokensCached: 0,
      inputTokens: null,
    },
    ...{ cacheReadTokens: null, cacheWriteTokens: null, outputTokens: null, costUsd: null, directCostUsd: null },
    ...{ recalls: 0, recallCostUsd: null, status: 200, addedMs: 1, firstByteMs: 1 },
  }
  await store.inProject(projectId, (tx) => insertProxiedRequest(tx, row, view))
}

const LISTS = [
  '/v1/agents',
  '/v1/threads',
  '/v1/agents/coder/items',
  '/v1/agents/coder/snapshots',
  '/v1/agents/coder/facts',
  '/v1/threads/run/messages',
  '/v1/threads/run/largest-messages',
  '/v1/threads/run/contexts',
  '/v1/threads/run/processes',
  '/v1/threads/run/iterations',
  '/v1/threads/run/summaries',
  '/v1/threads/run/summaries/:summary/messages',
  '/v1/agents/coder/messages',
  `/v1/messages?sourceId=${SOURCE_ID}`,
  '/v1/archive',
  '/v1/threads/run/ledger',
  '/v1/memory/blocks/agent/human/versions?owner=coder',
  '/v1/agents/coder/block-grants',
  '/v1/proxy/requests?thread=run',
  `/v1/proxy/requests/${relayed['run']}`,
]

/** The list of the same kind that belongs to another owner. */
const OTHER_OWNERS: Readonly<Record<string, string>> = {
  '/v1/agents/coder/items': '/v1/agents/reviewer/items',
  '/v1/agents/coder/facts': '/v1/agents/reviewer/facts',
  '/v1/memory/blocks/agent/human/versions?owner=coder': '/v1/memory/blocks/agent/human/versions?owner=reviewer',
  '/v1/agents/coder/block-grants': '/v1/agents/reviewer/block-grants',
  '/v1/threads/run/ledger': '/v1/threads/walk/ledger',
  '/v1/threads/run/largest-messages': '/v1/threads/walk/largest-messages',
  '/v1/threads/run/contexts': '/v1/threads/walk/contexts',
  '/v1/threads/run/processes': '/v1/threads/walk/processes',
  '/v1/threads/run/summaries': '/v1/threads/walk/summaries',
  '/v1/proxy/requests?thread=run': '/v1/proxy/requests?thread=walk',
  [`/v1/proxy/requests/${relayed['run']}`]: `/v1/proxy/requests/${relayed['walk']}`,
}

const pageAt = async (path: string, cursor?: string) => {
  const [pathname = '', query] = path.replace(':summary', summaryId).split('?')
  const page = new URLSearchParams({ ...Object.fromEntries(new URLSearchParams(query)), limit: '1' })
  if (cursor !== undefined) page.set('cursor', cursor)
  return await http.ask('GET', `${pathname}?${page}`)
}

test('every route with a cursor is tested here', () => {
  const routes = Object.entries(http.document.paths).filter(
    ([pattern, { get }]) =>
      get?.parameters.some(({ name }) => name === 'cursor') && pattern !== '/v1/agents/{agent}/memory-audit',
  )
  const tried = (pattern: string) =>
    LISTS.some((path) => new RegExp(`^${pattern.replace(/\{\w+\}/g, '[^/]+')}(\\?|$)`).test(path))
  expect(routes.map(([pattern]) => pattern).filter((pattern) => !tried(pattern))).toEqual([])
  expect(routes).toHaveLength(LISTS.length)
})

test('the audit of a memory, whose pages are figures, goes on after its own cursor and refuses any other', async () => {
  const path = '/v1/agents/coder/memory-audit'
  const first = (await pageAt(path)).body
  const next = (await pageAt(path, first.nextCursor)).body
  expect([first.messages, next.messages]).toEqual([1, 1])
  expect(next.to <= first.from).toBe(true)
  const others = await Promise.all(LISTS.map(async (list) => (await pageAt(list)).body.nextCursor))
  for (const cursor of ['zzz', '1', ...others]) {
    expect((await pageAt(path, cursor)).body).toMatchObject({ code: 'VALIDATION_ERROR', field: 'cursor' })
  }
})

describe.each(LISTS)('GET %s', (path) => {
  test('continues after its own cursor', async () => {
    const first = (await pageAt(path)).body
    expect(first.items).toHaveLength(1)
    const { status, body } = await pageAt(path, first.nextCursor)
    expect(status).toBe(200)
    expect(body.items).toHaveLength(1)
    expect(body.items).not.toEqual(first.items)
  })

  test.each([
    'zzz',
    '999999',
    '999999999999999',
    '1',
    'run',
    '1770906600000_0b7a2b0e-0000-4000-8000-000000000000',
    'MDAwMDAwMDBydW4',
  ])('refuses %s as a cursor that it did not return', async (cursor) => {
    if (cursor === '1' && /messages|iterations/.test(path)) return
    const { status, body } = await pageAt(path, cursor)
    expect([status, body.code, body.field, body.received]).toEqual([400, 'VALIDATION_ERROR', 'cursor', `"${cursor}"`])
  })

  test('refuses a cursor of every other list', async () => {
    const cursors = await Promise.all(
      LISTS.filter((other) => other !== path).map(async (other) => (await pageAt(other)).body.nextCursor),
    )
    if (/messages|iterations/.test(path))
      cursors.splice(0, cursors.length, ...cursors.filter((each) => !/^\d+$/.test(each)))
    expect(cursors.length).toBeGreaterThan(5)
    for (const cursor of cursors) {
      expect((await pageAt(path, cursor)).body).toMatchObject({ code: 'VALIDATION_ERROR', field: 'cursor' })
    }
  })

  test('refuses a cursor of the same list of another owner', async () => {
    const other = OTHER_OWNERS[path]
    if (other === undefined) return
    const { nextCursor } = (await pageAt(other)).body
    expect((await pageAt(path, nextCursor)).body).toMatchObject({ code: 'VALIDATION_ERROR', field: 'cursor' })
  })
})

test('a cursor after a summary that a compaction replaced is refused with what to do', async () => {
  const { nextCursor } = (await pageAt('/v1/threads/walk/summaries')).body
  await pipeline.client.messages.append({ agent: 'coder', thread: 'walk', messages: readParts() })
  await pipeline.client.threads.waitUntilSettled('walk', { deadlineMs: 60_000 })
  const { body } = await pageAt('/v1/threads/walk/summaries', nextCursor)
  expect(body).toMatchObject({ code: 'VALIDATION_ERROR', field: 'cursor', received: `"${nextCursor}"` })
  expect(body.detail).toContain('list from the start')
})

describe.each(['the queue', 'HTTP'])('a client over %s', (transport) => {
  const client = () => (transport === 'HTTP' ? createHttpClient({ url: http.url }) : pipeline.client)
  type Page = { limit: number; cursor?: string; after?: string }
  const lists: Record<string, (page: Page) => Promise<{ items: readonly unknown[]; nextCursor: string | null }>> = {
    agents: (page) => client().agents.list(page),
    threads: (page) => client().threads.list(page),
    items: (page) => client().items.list('coder', page),
    snapshots: (page) => client().snapshots.history('coder', page),
    facts: ({ limit, cursor, after = cursor }) =>
      client().facts.list('coder', { limit, ...(after !== undefined && { cursor: after }) }),
    messages: (page) => client().messages.list({ thread: 'run', ...page }),
    contexts: (page) => client().contexts.list({ thread: 'run', ...page }),
    processes: (page) => client().processes.list('run', page),
    iterations: (page) => client().iterations.list('run', page),
    archive: (page) => client().archive.list(page),
  }

  test.each(Object.keys(lists))('accepts the cursor of %s under its current and its former name', async (name) => {
    const list = lists[name]
    if (list === undefined) throw new Error(`there is no list of ${name}`)
    const { items, nextCursor } = await list({ limit: 1 })
    const cursor = nextCursor ?? ''
    const further = (await list({ limit: 1, cursor })).items
    expect(further).toHaveLength(1)
    expect(further).not.toEqual(items)
    expect((await list({ limit: 1, after: cursor })).items).toEqual(further)
    const refused = { code: 'VALIDATION_ERROR', field: 'cursor' }
    await expect(list({ limit: 1, cursor: 'zzz' })).rejects.toMatchObject(refused)
    await expect(list({ limit: 1, after: 'zzz' })).rejects.toMatchObject(refused)
  })
})
