import type { JsonObject, ProxyComparison, ProxyTotals } from '@heddle/contracts'
import { projectIdOf, threadIdOf } from '@heddle/core'
import { loadProxiedConversation } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'
import { callRaw } from './proxy-support.js'
import { type ThroughGateway, throughGateway } from './through-gateway.js'

let pipeline: Pipeline

beforeAll(async () => {
  // One server of queues: costs are sums over rows of the store.
  pipeline = await openPipeline('postgres')
  await pipeline.start(['ingest', 'prune'])
})
afterAll(() => pipeline?.close())

const LONG = Array.from({ length: 300 }, (_, line) => `line ${line}: the tide table of Hull`).join('\n')
const policy = { resultTokensMin: 400, resultTokensKept: 60, addsRecallTool: true }
const use = (id: string, name: string, input: JsonObject): JsonObject => ({ type: 'tool_use', id, name, input })
const text = (words: string): JsonObject => ({ type: 'text', text: words })

interface Usage {
  readonly input_tokens: number
  readonly cache_read_input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly output_tokens: number
}

const usage = (input: number, read: number, written: number, output: number): Usage => ({
  input_tokens: input,
  cache_read_input_tokens: read,
  cache_creation_input_tokens: written,
  output_tokens: output,
})

/** Dollars for a million tokens: 3 fresh, .3 read, 3.75 written, 15 output. */
const priceOf = (used: Usage): number =>
  (3 * used.input_tokens +
    0.3 * used.cache_read_input_tokens +
    3.75 * used.cache_creation_input_tokens +
    15 * used.output_tokens) /
  1_000_000

/** Has the provider answer each request with the next of these replies. */
function replyWith({ upstream }: ThroughGateway, replies: readonly { content: JsonObject[]; used: Usage }[]): void {
  let next = 0
  upstream.respond(({ body }, response) => {
    const { content, used } = replies[next++] ?? { content: [text('done')], used: usage(1, 0, 0, 1) }
    const reference = /\[recall:(msg-\w+)\]/.exec(body.toString())?.[1] ?? ''
    const stopReason = content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'
    const message = { id: 'm', type: 'message', role: 'assistant', content, stop_reason: stopReason, usage: used }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(message).replaceAll('REFERENCE', reference))
  })
}

const question: JsonObject = { role: 'user', content: 'When is high water?' }
const table: JsonObject[] = [
  question,
  { role: 'assistant', content: [use('c0', 'read_table', {})] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c0', content: LONG }] },
]

async function ask({ http }: ThroughGateway, thread: string, messages: readonly JsonObject[]): Promise<string> {
  const tools = [{ name: 'read_table', description: 'reads a table', input_schema: { type: 'object' } }]
  const { status, headers } = await callRaw(`${http.url}/anthropic/v1/messages`, {
    headers: ['content-type', 'application/json', 'x-heddle-thread', thread],
    body: JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 100, tools, messages }),
  })
  expect(status).toBe(200)
  return String(headers['x-heddle-context'])
}

/** The sums of what a conversation cost, as its next request gets them, in micro-dollars. */
async function costsOf(project: string, thread: string, requests: number) {
  const projectId = projectIdOf(project)
  const threadId = threadIdOf(projectId, thread)
  return await waitFor(async () => {
    const found = await pipeline.store.inProject(projectId, (tx) =>
      loadProxiedConversation(tx, { kind: 'thread', threadId }),
    )
    const state = found?.state as { requests: number; costs: { direct: number; sent: number } } | undefined
    return state?.requests === requests ? state.costs : null
  })
}

test('recalls are counted and priced at every door, and their costs lower what later rewrites may take', async () => {
  const project = 'recall-costs'
  await throughGateway(
    pipeline,
    project,
    async (through) => {
      const { http, client, heddle } = through
      const [first, second, third] = [usage(100, 0, 900, 20), usage(10, 1_000, 200, 30), usage(5, 1_200, 2_000, 30)]
      const called = { content: [use('c0', 'read_table', {})], used: first }
      const recall = { content: [use('r1', 'heddle_recall', { ref: '[recall:REFERENCE]' })], used: second }
      replyWith(through, [called, recall, { content: [text('At four.')], used: third }])
      for (const messages of [[question], table]) await ask(through, 'recalled', messages)
      replyWith(through, [called, { content: [text('At four.')], used: second }])
      for (const messages of [[question], table]) await ask(through, 'plain', messages)

      // Without the recall, the reply would have had the input of the first request and the output of the last.
      const further = priceOf({ ...third, output_tokens: second.output_tokens })
      await waitFor(async () => (await client.proxy.requests()).items.length === 4)
      const { body } = await http.ask('GET', '/v1/proxy/requests?thread=recalled')
      expect(body.items).toMatchObject([{ recalls: 1 }, { recalls: 0, recallCostUsd: null }])
      expect(body.items[0].recallCostUsd).toBeCloseTo(further, 9)
      expect(body.items[0].costUsd).toBeCloseTo(priceOf(second) + priceOf(third), 9)
      // As it came, the same request would have had no recall.
      const plain = (await client.proxy.requests({ thread: 'plain', limit: 1 })).items[0]
      expect(body.items[0].directCostUsd).toBeCloseTo(plain?.directCostUsd ?? 0, 9)

      const stats = await http.ask('GET', '/v1/proxy/stats')
      expect(await client.proxy.stats()).toEqual(stats.body)
      const { document } = await heddle('proxy', 'stats', '--json')
      expect(document).toEqual(stats.body)
      const [totals] = document.items as ProxyTotals[]
      expect(totals).toMatchObject({ mode: 'stub', requests: 4, recalls: 1, priced: 4 })
      expect(totals?.recallCostUsd).toBeCloseTo(further, 9)
      expect(totals?.costUsd).toBeCloseTo(
        [first, second, third, first, second].map(priceOf).reduce((a, b) => a + b),
        9,
      )
      const dollars = `$${further.toFixed(4)}`
      expect((await heddle('proxy', 'stats')).stdout).toContain(dollars)
      expect((await heddle('proxy', 'show', body.items[0].id)).stdout).toContain(
        `recalls 1, which cost ${dollars} of it`,
      )

      const [withRecall, without] = [await costsOf(project, 'recalled', 2), await costsOf(project, 'plain', 2)]
      expect(withRecall.direct).toBeCloseTo(without.direct, 6)
      expect(withRecall.sent - without.sent).toBeCloseTo(further * 1_000_000, 3)
    },
    { mode: 'stub', policy },
  )
})

test('a mode is compared with conversations that stayed unchanged, with an interval, the same at every door', async () => {
  await throughGateway(
    pipeline,
    'compared-costs',
    async (through) => {
      const { upstream, http, client, heddle } = through
      // A provider without a cache, which counts a token for four bytes.
      upstream.respond(({ body }, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        const used = usage(Math.round(body.length / 4), 0, 0, 10)
        response.end(JSON.stringify({ type: 'message', role: 'assistant', content: [text('At four.')], usage: used }))
      })
      const threads = Array.from({ length: 40 }, (_, number) => `compared-${number}`)
      for (const [number, thread] of threads.entries()) {
        await ask(through, thread, [
          { ...question, content: `Question ${number}: `.repeat(1 + (number % 7)) },
          ...table.slice(1),
        ])
      }
      await waitFor(async () => (await client.proxy.requests({ limit: 100 })).items.length === threads.length)
      const { body } = await http.ask('GET', '/v1/proxy/stats')
      const { items: rows } = await client.proxy.requests({ limit: 100 })
      const { items, comparisons } = body as { items: ProxyTotals[]; comparisons: ProxyComparison[] }
      const [compared] = comparisons
      expect(comparisons).toHaveLength(1)
      for (const isControl of [false, true]) {
        const own = rows.filter((row) => row.isControl === isControl)
        const group = isControl ? compared?.control : compared?.treated
        expect(group).toMatchObject({ threads: own.length, requests: own.length })
        expect(group?.costUsd).toBeCloseTo(
          own.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0),
          9,
        )
        expect(own.length).toBeGreaterThanOrEqual(10)
        expect(items.find((each) => each.isControl === isControl)).toMatchObject({ mode: 'stub', requests: own.length })
      }
      const { ratio, interval } = compared ?? {}
      expect(ratio).toBeLessThan(0.5)
      expect(interval?.low).toBeLessThanOrEqual(ratio ?? 0)
      expect(interval?.high).toBeGreaterThanOrEqual(ratio ?? 1)
      expect(interval?.high).toBeLessThan(1)
      // A request that stayed unchanged costs what it would have cost.
      const control = items.find(({ isControl }) => isControl)
      expect(control?.directCostUsd).toBeCloseTo(control?.costUsd ?? 0, 9)

      expect(await client.proxy.stats()).toEqual(body)
      expect((await heddle('proxy', 'stats', '--json')).document).toEqual(body)
      const { stdout } = await heddle('proxy', 'stats')
      expect(stdout).toContain(
        `stub: a request costs ${ratio?.toFixed(2)} of an unchanged one, 95 % interval ${interval?.low.toFixed(2)} to ${interval?.high.toFixed(2)}: ${compared?.treated.threads} conversations beside ${compared?.control.threads} unchanged ones`,
      )
    },
    { mode: 'stub', control: 0.5, policy: { ...policy, addsRecallTool: false } },
  )
})
