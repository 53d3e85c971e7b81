import { type ContextResult, mergeSettings } from '@heddle/contracts'
import { agentIdOf, threadIdOf } from '@heddle/core'
import { createClient } from '@heddle/engine'
import {
  finishContext,
  listHistory,
  listRequestContexts,
  loadRequestContext,
  removeExpired,
  requestContext,
} from '@heddle/store'
import { expect, test } from 'vitest'
import { erase, threadTarget } from '../erasure/erasure-support.js'
import { nodesOf, plansOf } from '../plans-of.js'
import { append, appendOne, newId, PROJECT, prepared, storeOfTests } from '../support.js'

const database = storeOfTests()
const EVERYTHING = { beforeMs: Date.now() + 60_000, limit: 1_000 }
let agents = 0

/** A new agent with a thread and a rule, which contexts of the thread show. */
async function freshThread() {
  const { store } = database
  const agent = `asked ${++agents}`
  const thread = `${agent} run`
  const threadId = threadIdOf(PROJECT, thread)
  const client = createClient({ store, queues: null, project: 'store tests', settings: mergeSettings() })
  const rule = await client.items.put(agent, {
    type: 'rule',
    name: 'login',
    description: 'How to log in',
    text: 'Send the token.',
    include: 'agent',
    priorityLevel: 3,
  })
  await client.threads.put(thread, { agent })
  const build = async (isWithItem = true) => {
    const id = newId()
    const { itemId, version } = rule
    const item = { type: 'rule', name: 'login', includeMode: 'agent', similarityScore: 0.9, itemId, version }
    const entries = isWithItem ? [{ section: 'selected', mode: 'raw', count: 0, tokens: 7, reason: 'x', item }] : []
    const sections = [
      { name: 'history', count: 2, tokens: 30 },
      { name: 'docs', count: 0, tokens: 0 },
    ]
    const receipt = { entries, sections, stateId: null, agentVersion: 1, headSeq: 0 }
    const result = { id, budget: 100, tokensUsed: 37, summaryUsed: false, receipt } as unknown as ContextResult
    await store.inProject(PROJECT, async (tx) => {
      await requestContext(tx, { id, threadId, request: { thread }, deadlineAtMs: Date.now() })
      await finishContext(tx, { id, result })
    })
    return id
  }
  const reply = (contextId: string, to = thread) =>
    appendOne(store, append([prepared({ role: 'assistant', content: 'Done.', contextId })], { agent, thread: to }))
  const of = (contextId: string) => store.inProject(PROJECT, (tx) => loadRequestContext(tx, { threadId, contextId }))
  return { agent, thread, threadId, client, build, reply, of, rule }
}

test('a reply keeps the record of its context after the retention of contexts and of their items', async () => {
  const { build, reply, of, rule, thread, threadId, client } = await freshThread()
  const [withItem, without, unanswered] = [await build(), await build(false), await build()]
  for (const id of [withItem, without]) await reply(id)
  await removeExpired(database.store, { kind: 'contexts', ...EVERYTHING })
  await removeExpired(database.store, { kind: 'contextItems', ...EVERYTHING })
  const common = { sections: { history: [2, 30] }, budget: 100, tokensUsed: 37, agentVersion: 1 }
  expect(await of(withItem)).toMatchObject({
    ...common,
    threadName: thread,
    items: [
      {
        ...{ itemId: rule.itemId, version: 1, type: 'rule', name: 'login', includeMode: 'agent', tokens: 7 },
        ...{ description: 'How to log in', priorityLevel: 3, isUsed: false, isCurrent: true },
        score: expect.closeTo(0.9, 3),
      },
    ],
  })
  expect(await of(without)).toMatchObject({ ...common, items: [] })
  expect(await of(unanswered)).toBeNull()
  const page = await database.store.inProject(PROJECT, (tx) => listHistory(tx, { threadId, limit: 9, order: 'asc' }))
  expect(page?.messages.map(({ hasRequestContext }) => hasRequestContext)).toEqual([true, true])
  expect((await client.items.stats((await of(without))?.agentName ?? '')).contexts).toBe(1)
})

test('the record belongs to the first reply, and to no message of another thread', async () => {
  const { build, reply, of, thread } = await freshThread()
  const id = await build()
  await reply(id, `${thread} beside`)
  expect(await of(id)).toBeNull()
  await reply(id)
  const first = await of(id)
  await reply(id)
  expect(await of(id)).toEqual(first)
  expect(first?.answeredSeq).toBe(1)
})

test('the record is erased with its thread', async () => {
  const { build, reply, of, threadId } = await freshThread()
  const id = await build()
  await reply(id)
  await erase(database.store, threadTarget({ threadId }))
  expect(await of(id)).toBeNull()
})

test('the records of an agent and that of a reply are found by indexes', async () => {
  const { build, reply, agent, threadId } = await freshThread()
  const ids = await Promise.all(Array.from({ length: 20 }, () => build()))
  for (const id of ids) await reply(id)
  const agentId = agentIdOf(PROJECT, agent)
  const page = { agentId, sinceMs: null, limit: 5, after: null }
  const plans = await plansOf(database.store, PROJECT, async (tx) => {
    await loadRequestContext(tx, { threadId, contextId: ids[3] ?? '' })
    const [first] = await listRequestContexts(tx, page)
    await listRequestContexts(tx, { ...page, after: first ?? null })
  })
  const reads = plans.flatMap(nodesOf).filter((node) => node['Relation Name'] === 'context_items')
  expect(reads.length).toBeGreaterThanOrEqual(3)
  for (const node of reads) expect(node['Index Name'], JSON.stringify(node)).toMatch(/^context_items_/)
})
