import { randomUUID } from 'node:crypto'
import type { Client } from '@heddle/client/interface'
import type { Pipeline } from '../support.js'

/** A project with its secret, and all names and ids of its data. */
export interface Tenant {
  readonly project: string
  readonly agent: string
  readonly thread: string
  /** It is in all stored data of the project, and nowhere else. */
  readonly canary: string
  readonly client: Client
  readonly headers: Readonly<Record<string, string>>
  readonly keyId: string
  readonly contextIds: readonly string[]
  readonly snapshotId: string
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
  const agent = `agent-of-${project}`
  const thread = `run-of-${project}`
  const { id: keyId, key } = await client.keys.create({ name: 'admin', role: 'admin' })
  await client.agents.put(agent, { systemPrompt: canary, settings: { rollingWindow: null } })
  await client.items.put(agent, { type: 'rule', name: 'house', text: `be kind, ${canary}`, include: 'always' })
  await client.blocks.put({ scope: 'agent', owner: agent, label: 'house' }, { value: `be kind, ${canary}` })
  await client.agents.put(`helper-of-${project}`, {})
  const house = { scope: 'agent', owner: agent, label: 'house' } as const
  await client.blocks.grant(house, { to: `helper-of-${project}`, mode: 'write' })
  const messages = Array.from({ length: 6 }, (_, index) => ({
    id: randomUUID(),
    role: 'user' as const,
    content: `the pelican of message ${index} says ${canary}`,
  }))
  await client.messages.append({ agent, thread, messages })
  await client.threads.put(thread, { agent, goal: canary })
  await client.items.addToThread(thread, { type: 'rule', name: 'house' })
  await client.processes.put(thread, 'build', { status: canary })
  await client.iterations.append({ agent, thread, iterations: [{ prompt: canary, output: canary }] })
  await client.threads.waitUntilSettled(thread)
  const built = await client.contexts.build({ thread, budget: 8_000 })
  const shorter = await client.contexts.build({ thread, budget: 4_000 })
  const snapshot = await client.snapshots.save({ agent, description: canary })
  const page = await client.messages.list({ thread, limit: 2 })
  const snapshots = await client.snapshots.history(agent, { limit: 1 })
  const found = await client.search({ query: 'pelican' })
  return {
    project,
    agent,
    thread,
    canary,
    client,
    headers: { authorization: `Bearer ${key}` },
    keyId,
    contextIds: [built.id, shorter.id],
    snapshotId: snapshot.id,
    messageIds: messages.map(({ id }) => id),
    references: [...found.items.map(({ ref }) => ref), ...page.items.map(({ reference }) => reference)],
    cursors: [page.nextCursor ?? '2', snapshots.nextCursor ?? snapshot.id, thread, agent, '0'],
  }
}
