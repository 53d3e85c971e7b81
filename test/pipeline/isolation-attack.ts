import { randomUUID } from 'node:crypto'
import type { Client } from '@heddle/client'
import { projectIdOf, threadIdOf } from '@heddle/core'
import { openEvents, type Served } from './http-support.js'
import type { Pipeline } from './support.js'

/** A project with its secret, and all that names what it has. */
export interface Tenant {
  readonly project: string
  /** Stands in everything that it stores, and nobody else knows it. */
  readonly canary: string
  readonly client: Client
  readonly headers: Readonly<Record<string, string>>
  readonly contextId: string
  readonly messageIds: readonly string[]
  readonly references: readonly string[]
  readonly cursors: readonly string[]
}

export async function settleTenants(pipeline: Pipeline, count: number): Promise<Tenant[]> {
  return await Promise.all(Array.from({ length: count }, (_, index) => settle(pipeline, `tenant-${index}`)))
}

async function settle(pipeline: Pipeline, project: string): Promise<Tenant> {
  const client = pipeline.clientOf(project)
  const canary = `canary${randomUUID().replaceAll('-', '')}`
  const { key } = await client.keys.create({ name: 'admin', role: 'admin' })
  await client.agents.put(`agent-of-${project}`, { systemPrompt: canary, settings: { rollingWindow: null } })
  const messages = Array.from({ length: 6 }, (_, index) => ({
    id: randomUUID(),
    role: 'user' as const,
    content: `the pelican of message ${index} says ${canary}`,
  }))
  const thread = `run-of-${project}`
  await client.messages.append({ agent: `agent-of-${project}`, thread, messages })
  await client.threads.put(thread, { agent: `agent-of-${project}`, goal: canary })
  await client.processes.put(thread, 'build', { status: canary })
  await client.iterations.append({
    agent: `agent-of-${project}`,
    thread,
    iterations: [{ prompt: canary, output: canary }],
  })
  await client.threads.waitUntilSettled(thread)
  const built = await client.contexts.build({ thread, budget: 8_000 })
  const page = await client.messages.list({ thread, limit: 2 })
  const found = await client.search({ query: 'pelican' })
  return {
    project,
    canary,
    client,
    headers: { authorization: `Bearer ${key}` },
    contextId: built.id,
    messageIds: messages.map(({ id }) => id),
    references: [...found.items.map(({ ref }) => ref), ...page.items.map(({ reference }) => reference)],
    cursors: [page.nextCursor ?? '2', thread, `agent-of-${project}`, '0'],
  }
}

/** A secret of one project that another one was shown. */
export interface Crossing {
  readonly operation: string
  readonly from: string
  readonly to: string
}

export interface AttackOptions {
  readonly pipeline: Pipeline
  readonly http: Served
  readonly tenants: readonly Tenant[]
  readonly operations: number
  readonly random: () => number
}

/** Asks as one project for what is another one's, in every way that there is, and looks for the other's secret in what comes back. */
export async function attack(
  options: AttackOptions,
): Promise<{ done: number; crossings: Crossing[]; answered: number }> {
  const { tenants, operations, random } = options
  const crossings: Crossing[] = []
  let done = 0
  let answered = 0
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
  const worker = async () => {
    while (done < operations) {
      done++
      const attacker = pick(tenants)
      const victim = pick(tenants.filter((tenant) => tenant !== attacker))
      const [operation, run] = pick(attempts)
      const text = await run({ ...options, attacker, victim, pick }).catch((error: unknown) => told(error))
      if (text.startsWith('{"items":[{') || text.startsWith('{"id":')) answered++
      for (const { project, canary } of tenants) {
        if (project !== attacker.project && text.includes(canary)) {
          crossings.push({ operation, from: project, to: attacker.project })
        }
      }
    }
  }
  await Promise.all(Array.from({ length: 12 }, worker))
  return { done, crossings, answered }
}

interface Attempt extends Pick<AttackOptions, 'pipeline' | 'http'> {
  readonly attacker: Tenant
  readonly victim: Tenant
  pick<Item>(items: readonly Item[]): Item
}

function told(error: unknown): string {
  return JSON.stringify(error) + String(error)
}

const threadOf = ({ project }: Tenant) => `run-of-${project}`
const agentOf = ({ project }: Tenant) => `agent-of-${project}`

async function http(
  { http: { url }, attacker }: Attempt,
  method: string,
  path: string,
  body?: unknown,
): Promise<string> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...attacker.headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return await response.text()
}

async function mcp({ http: { url }, attacker }: Attempt, method: string, params: object): Promise<string> {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      ...attacker.headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return await response.text()
}

const tool = (attempt: Attempt, name: string, given: object) => mcp(attempt, 'tools/call', { name, arguments: given })

/** A reference of the victim: as it is, without its project, or with the attacker's. */
function forgedReference({ attacker, victim, pick }: Attempt): string {
  const reference = pick(victim.references)
  return pick([
    reference,
    reference.replace(/^.*\/(msg-)/, '$1'),
    reference.replace(victim.project, attacker.project),
    `nexora://${victim.project}/${threadOf(victim)}/${reference.replace(/^.*\/(msg-)/, '$1')}`,
  ])
}

const attempts: readonly (readonly [string, (attempt: Attempt) => Promise<string>])[] = [
  ['GET context', (a) => http(a, 'GET', `/v1/contexts/${a.victim.contextId}`)],
  ['GET receipt', (a) => http(a, 'GET', `/v1/contexts/${a.victim.contextId}/receipt`)],
  ['GET agent', (a) => http(a, 'GET', `/v1/agents/${agentOf(a.victim)}`)],
  ['GET agents', (a) => http(a, 'GET', `/v1/agents?cursor=${a.pick(a.victim.cursors)}`)],
  ['GET thread', (a) => http(a, 'GET', `/v1/threads/${threadOf(a.victim)}`)],
  ['GET threads', (a) => http(a, 'GET', `/v1/threads?agent=${agentOf(a.victim)}&cursor=${a.pick(a.victim.cursors)}`)],
  [
    'GET messages',
    (a) =>
      http(
        a,
        'GET',
        `/v1/threads/${threadOf(a.pick([a.attacker, a.victim]))}/messages?cursor=${a.pick(a.victim.cursors)}`,
      ),
  ],
  ['GET processes', (a) => http(a, 'GET', `/v1/threads/${threadOf(a.victim)}/processes`)],
  ['GET iterations', (a) => http(a, 'GET', `/v1/threads/${threadOf(a.victim)}/iterations?cursor=0`)],
  [
    'POST recall',
    (a) => http(a, 'POST', '/v1/recall', { ref: forgedReference(a), thread: threadOf(a.pick([a.attacker, a.victim])) }),
  ],
  ['POST search', (a) => http(a, 'POST', '/v1/search', { query: 'pelican message says', agent: agentOf(a.victim) })],
  ['POST search in a thread', (a) => http(a, 'POST', '/v1/search', { query: 'pelican', thread: threadOf(a.victim) })],
  ['POST search of all', (a) => http(a, 'POST', '/v1/search', { query: 'pelican', limit: 500 })],
  [
    'POST archive search',
    (a) => http(a, 'POST', '/v1/archive/search', { query: 'pelican', thread: threadOf(a.victim) }),
  ],
  ['POST context', (a) => http(a, 'POST', `/v1/threads/${threadOf(a.victim)}/contexts`, { budget: 8_000 })],
  ['events', followed],
  ['MCP recall', (a) => tool(a, 'recall', { ref: forgedReference(a), thread: threadOf(a.victim) })],
  ['MCP search', (a) => tool(a, 'search', { query: 'pelican', thread: threadOf(a.victim) })],
  ['MCP history', (a) => tool(a, 'history', { thread: threadOf(a.victim), after: a.pick(a.victim.cursors) })],
  ['MCP context', (a) => tool(a, 'build_context', { thread: threadOf(a.victim), agent: agentOf(a.victim) })],
  ['MCP resource', (a) => mcp(a, 'resources/read', { uri: `heddle://contexts/${a.victim.contextId}` })],
  [
    'MCP recalled',
    (a) => mcp(a, 'resources/read', { uri: `heddle://recall/${encodeURIComponent(forgedReference(a))}` }),
  ],
  [
    'queue: context',
    async ({ attacker, victim }) => JSON.stringify(await attacker.client.contexts.find(victim.contextId)),
  ],
  [
    'queue: recall',
    async (a) =>
      JSON.stringify(await a.attacker.client.recall({ ref: forgedReference(a), thread: threadOf(a.victim) })),
  ],
  ['queue: assemble job', assembled],
  ['queue: wake', woken],
  ['queue: ingest of taken ids', ingested],
]

/** The log of the attacker, from a number of another project on; it names threads by ids that must be its own. */
async function followed({ http: { url }, attacker, victim }: Attempt): Promise<string> {
  const stream = await openEvents(`${url}/v1/events?after=0`, { ...attacker.headers })
  const first = await stream.next()
  stream.close()
  const text = JSON.stringify(first)
  return text.includes(projectIdOf(victim.project)) ? victim.canary : text
}

/** A job of the attacker's project about a context of the victim's. */
async function assembled({ pipeline, attacker, victim }: Attempt): Promise<string> {
  await pipeline.queues.add('assemble', {
    projectId: projectIdOf(attacker.project),
    contextId: victim.contextId,
    replyTo: pipeline.queues.inbox,
  })
  return JSON.stringify(await attacker.client.contexts.find(victim.contextId))
}

async function woken({ pipeline, attacker, victim, pick }: Attempt): Promise<string> {
  const threadId = threadIdOf(projectIdOf(victim.project), threadOf(victim))
  await pipeline.queues.wake(pick(['prune', 'summarize', 'embed'] as const), {
    projectId: projectIdOf(attacker.project),
    threadId,
  })
  return JSON.stringify(await attacker.client.search({ query: 'pelican', limit: 500 }))
}

/** Messages under ids that the victim has used: they are the attacker's own, and say nothing of the others. */
async function ingested({ attacker, victim, pick }: Attempt): Promise<string> {
  const thread = `forged-${pick([0, 1, 2])}`
  const messages = [{ id: pick(victim.messageIds), role: 'user' as const, content: 'mine' }]
  await attacker.client.messages.append({ agent: agentOf(attacker), thread, messages })
  return JSON.stringify(await attacker.client.messages.list({ thread }))
}
