import { createSummarizers } from '@heddle/models'
import { createLogger, systemClock } from '@heddle/runtime'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ProtocolServer, startProtocolServer } from '../../support/src/servers/protocol-server.js'
import { validateOpenAiChat } from '../../support/src/validators/index.js'
import { allStages, openPipeline, type Pipeline } from '../support.js'
import { AGENT, openTenant, session, THREAD } from '../tenant.js'

let pipeline: Pipeline
let server: ProtocolServer

beforeAll(async () => {
  server = await startProtocolServer()
  pipeline = await openPipeline()
  const summarizers = createSummarizers({
    env: { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: server.openAiUrl },
    clock: systemClock,
    log: createLogger({ level: 'silent', name: 'test' }),
  })
  await pipeline.start(allStages, { summarizers, reconcile: { everyMs: 100, patienceMs: 0 } })
})
afterAll(async () => {
  await pipeline?.close()
  await server?.close()
})

const SUMMARIZER = 'openai gpt-4o-mini'

/** A project whose agent has no budget, as in the README: requests name theirs. */
async function tenantOf(project: string, turns: number) {
  const tenant = await openTenant(pipeline, project)
  await tenant.client.agents.put(AGENT, { settings: { budget: null, rollingWindow: null } })
  const messages = session(project, turns)
  await tenant.send(messages)
  await tenant.whenSettled(messages.length)
  return { ...tenant, messages }
}

test('a request with a budget gets the summary of the configured model once the pipeline has settled', async () => {
  const { client, messages, whenSettled } = await tenantOf('budget in the request', 120)
  const request = { thread: THREAD, budget: 6_000, format: 'openai-chat' as const }
  const first = await client.contexts.build(request)
  expect(first.receipt).toMatchObject({ stateId: null, summarizer: 'extractive' })
  await whenSettled(messages.length)
  const settled = await client.contexts.build(request)
  expect(settled.summaryUsed).toBe(true)
  expect(settled.receipt).toMatchObject({ stateId: expect.any(String), summarizer: SUMMARIZER })
  expect(JSON.stringify(settled.messages)).toContain('They spoke of:')
  for (const context of [first, settled]) {
    expect(context.tokensUsed).toBeLessThanOrEqual(6_000)
    expect(validateOpenAiChat(context.messages as never)).toEqual([])
    expect(context.receipt.entries.reduce((sum, { count }) => sum + count, 0)).toBe(messages.length)
  }
})

test('callers with different budgets each get the compactions of theirs, however their requests and appends mix', async () => {
  const { client, messages, send, whenSettled } = await tenantOf('two callers', 60)
  const budgets = [4_000, 6_000]
  const more = session('two callers', 120).slice(messages.length)
  for (let from = 0; from < more.length; from += 10) {
    await send(more.slice(from, from + 10))
    const contexts = await Promise.all(
      budgets.map((budget) => client.contexts.build({ thread: THREAD, budget, format: 'openai-chat' })),
    )
    for (const { tokensUsed, budget, messages: sent, receipt } of contexts) {
      expect(tokensUsed).toBeLessThanOrEqual(budget)
      expect(validateOpenAiChat(sent as never)).toEqual([])
      expect(receipt.entries.reduce((sum, { count }) => sum + count, 0)).toBe(receipt.eligible)
    }
  }
  const total = messages.length + more.length
  await whenSettled(total)
  // The last requests may have recorded a lane anew after the last message.
  const lastOf = async (budget: number) =>
    await client.contexts.build({ thread: THREAD, budget, fill: 'cache', format: 'openai-chat' })
  for (const budget of budgets) {
    const alone = await openTenant(pipeline, `alone with ${budget}`)
    await alone.client.agents.put(AGENT, { settings: { budget, rollingWindow: null } })
    await alone.send(session('two callers', 120))
    await alone.whenSettled(total)
    const [kept, own] = [
      await lastOf(budget),
      await alone.client.contexts.build({ thread: THREAD, format: 'openai-chat' }),
    ]
    expect(kept.messages).toEqual(own.messages)
    expect(kept.receipt).toMatchObject({ summarizer: SUMMARIZER, notes: own.receipt.notes })
  }
})

test('the summaries of requested budgets are listed after that of the agent, down to their messages', async () => {
  const { client, messages, send, whenSettled } = await tenantOf('summaries of requests', 120)
  await client.contexts.build({ thread: THREAD, budget: 6_000 })
  await whenSettled(messages.length)
  const settled = await client.contexts.build({ thread: THREAD, budget: 6_000 })
  const { items } = await client.summaries.list({ thread: THREAD })
  expect(items[0]).toMatchObject({
    id: settled.receipt.stateId,
    kind: 'whole',
    summarizer: SUMMARIZER,
    lane: { strategy: 'sandwich', limitTokens: 6_000, isOwn: false },
  })
  expect(items.slice(1).every(({ lane }) => lane === null)).toBe(true)
  const { items: behind } = await client.summaries.messages({ thread: THREAD, summary: items[0]?.id ?? '', limit: 5 })
  expect(behind[0]).toMatchObject({ seq: items[0]?.from?.seq })

  await client.agents.put(AGENT, { settings: { budget: 8_000, rollingWindow: null } })
  const more = session('summaries of requests', 122).slice(messages.length)
  await send(more)
  await whenSettled(messages.length + more.length)
  const all = await client.summaries.list({ thread: THREAD, limit: 100 })
  const lanes = all.items.flatMap(({ lane }) => lane ?? [])
  expect(lanes).toMatchObject([
    { limitTokens: 8_000, isOwn: true },
    { limitTokens: 6_000, isOwn: false },
  ])
  const ids = all.items.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(all.items.flatMap(({ children }) => children).filter((id) => !ids.includes(id))).toEqual([])
  const pages: string[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: typeof all = await client.summaries.list({ thread: THREAD, limit: 1, cursor })
    pages.push(...page.items.map(({ id }) => id))
    cursor = page.nextCursor
  }
  expect(pages).toEqual(ids)
})
