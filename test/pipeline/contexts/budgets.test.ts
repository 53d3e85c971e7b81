import { formats, limits } from '@heddle/contracts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'

/** A run of calls, each with signed reasoning longer than its other content. */
function reasoningRun(calls: number) {
  const words = 'the login fails with connection refused after the token was refreshed in the server of the module '
  const steps = Array.from({ length: calls }, (_, index) => [
    {
      role: 'assistant' as const,
      content: 'Next.',
      thinking: [{ text: words.repeat(4), signature: `EqQB${signature(index)}` }],
      toolCalls: [{ id: `toolu_${index}`, name: 'Read', arguments: { file_path: `/src/file${index}.ts` } }],
    },
    {
      role: 'tool_result' as const,
      toolCallId: `toolu_${index}`,
      toolName: 'Read',
      content: `${index} ${words.repeat(8)}`,
    },
  ])
  return [{ role: 'user' as const, content: 'Fix the login.' }, ...steps.flat()]
}

/** Random letters, like a provider's signature; the same each time. */
function signature(seed: number): string {
  let state = seed + 1
  const next = () => {
    state = (state * 48_271) % 2_147_483_647
    return state
  }
  return Array.from({ length: 130 }, () => next().toString(36)).join('')
}

let pipeline: Pipeline

beforeAll(async () => {
  pipeline = await openPipeline()
  await pipeline.start()
})
afterAll(() => pipeline?.close())

async function reasoningThread(thread: string) {
  const { client } = pipeline
  await client.agents.put('thinker', { settings: { rollingWindow: null } })
  await client.messages.append({ agent: 'thinker', thread, messages: reasoningRun(60), ack: 'stored' })
  await client.threads.waitUntilSettled(thread)
}

describe('a thread whose reasoning is longer than its other content', () => {
  test('gets a context at every budget that fits its fixed parts, in every format', async () => {
    await reasoningThread('every-budget')
    for (const format of formats) {
      let used = 0
      for (let budget = 2_000; budget <= 26_000; budget += 3_000) {
        const request = { thread: 'every-budget', budget, format, fill: 'budget' as const, message: 'go on' }
        const { tokensUsed, receipt } = await pipeline.client.contexts.build(request)
        const isWhole = receipt.notes.length === 0 && receipt.entries.every(({ mode }) => mode === 'raw')
        if (!isWhole) expect(tokensUsed / budget, `${format} at ${budget}`).toBeGreaterThan(0.85)
        expect(tokensUsed).toBeGreaterThanOrEqual(used)
        expect(receipt.entries.reduce((sum, { count }) => sum + count, 0)).toBe(receipt.eligible)
        used = tokensUsed
      }
    }
  })

  test('is shown with its real cost in each format, and compacted when that exceeds the budget', async () => {
    const { client } = pipeline
    await reasoningThread('real-costs')
    const { sentTokens, reasoningTokens, tokens } = await client.threads.get('real-costs')
    expect(reasoningTokens).toBeGreaterThan(tokens / 2)
    for (const format of formats) {
      const model = 'gemini-1.5-pro'
      const request = { thread: 'real-costs', strategy: 'full-history', model, format, budget: limits.budgetTokensMax }
      const { tokensUsed } = await client.contexts.build(request)
      expect(Math.abs(sentTokens[format] / tokensUsed - 1), format).toBeLessThan(0.05)
    }
    expect((await client.threads.get('real-costs')).states).toEqual([])
    const limit = Math.ceil(sentTokens.anthropic / 0.79)
    // Without its reasoning the thread is far below this budget; with it, the next message exceeds the trigger.
    await client.agents.put('thinker', { settings: { budget: limit } })
    await client.messages.append({
      agent: 'thinker',
      thread: 'real-costs',
      messages: reasoningRun(30).slice(1),
      ack: 'stored',
    })
    await client.threads.waitUntilSettled('real-costs')
    expect((await client.threads.get('real-costs')).states.length).toBeGreaterThan(0)
    await client.agents.put('thinker', { settings: { budget: null } })
  })
})

test('a thread that was compacted with its reasoning also fills the budget of its settings', async () => {
  const { client } = pipeline
  await client.agents.put('named', { settings: { rollingWindow: null, budget: 9_000 } })
  await client.messages.append({ agent: 'named', thread: 'named', messages: reasoningRun(150), ack: 'stored' })
  await client.threads.waitUntilSettled('named')
  expect((await client.threads.get('named')).states.length).toBeGreaterThan(0)
  for (const format of ['anthropic', 'openai-chat'] as const) {
    let used = 0
    for (const budget of [4_000, 6_500, 9_000, 12_000]) {
      const request = { thread: 'named', budget, format, fill: 'budget' as const, message: 'go on' }
      const { tokensUsed, receipt } = await client.contexts.build(request)
      expect(tokensUsed / budget, `${format} at ${budget}`).toBeGreaterThan(0.85)
      expect(tokensUsed).toBeGreaterThan(used)
      expect(receipt.entries.reduce((sum, { count }) => sum + count, 0)).toBe(receipt.eligible)
      used = tokensUsed
    }
  }
})

test('a context of several threads is never filled: each thread has its own compaction', async () => {
  const { client } = pipeline
  await client.agents.put('several', { settings: { rollingWindow: null, fill: 'budget' } })
  for (const thread of ['first', 'second']) {
    const messages = [{ role: 'user' as const, content: `This is the ${thread}.` }]
    await client.messages.append({ agent: 'several', thread, messages, ack: 'stored' })
  }
  const request = { thread: 'first', scope: { threads: ['first', 'second'] } }
  expect((await client.contexts.build(request)).receipt.fill).toBe('cache')
  await expect(client.contexts.build({ ...request, fill: 'budget' })).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    field: 'fill',
  })
})

test('a cached thread counts restored messages like a thread that is read again', async () => {
  const { client } = pipeline
  await client.agents.put('restorer', { settings: { rollingWindow: null } })
  const messages = ['one', 'two'].map((content) => ({ role: 'user' as const, content }))
  await client.messages.append({ agent: 'restorer', thread: 'warm', messages, ack: 'stored' })
  const { id } = await client.snapshots.save({ agent: 'restorer' })
  await client.agents.clear('restorer')
  const build = (fields = {}) => client.contexts.build({ thread: 'warm', message: 'go on', ...fields })
  await build()
  await client.snapshots.restore(id)
  const [warm, cold] = [await build(), await build({ budget: 100_000 })]
  expect(warm.receipt).toMatchObject({ eligible: 2, imported: 2, ineligible: {}, notes: [] })
  expect(cold.receipt).toMatchObject({ eligible: 2, imported: 2, ineligible: {}, notes: [] })
})

describe('how a budget is filled', () => {
  const words = 'We decided to keep the sessions in Postgres, because the queue may be flushed. '
  const turns = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: `${from + index}: ${words.repeat(6)}`,
    }))

  test('depends on whether the thread is continued at that budget, unless the request or the agent sets it', async () => {
    const { client } = pipeline
    await client.agents.put('filler', { settings: { rollingWindow: null } })
    const append = (from: number, count: number) =>
      client.messages.append({ agent: 'filler', thread: 'fills', messages: turns(from, count), ack: 'stored' })
    const build = (fields = {}) => client.contexts.build({ thread: 'fills', budget: 8_000, ...fields })
    await append(0, 300)

    const first = await build()
    expect(first.receipt.fill).toBe('budget')
    expect(first.tokensUsed).toBeGreaterThan(8_000 * 0.85)
    const again = await build()
    expect(again.messages).toEqual(first.messages)
    await append(300, 2)
    expect((await build()).receipt.fill).toBe('cache')
    expect((await build()).receipt.fill).toBe('cache')
    expect((await build({ budget: 9_000 })).receipt.fill).toBe('budget')
    expect((await build({ fill: 'budget' })).receipt.fill).toBe('budget')
    await client.agents.put('filler', { settings: { fill: 'cache' } })
    expect((await build({ budget: 10_000 })).receipt.fill).toBe('cache')
    expect((await build({ budget: 10_000, fill: 'budget' })).receipt.fill).toBe('budget')
  })

  test('adds messages that the published compaction covers after its summary, each message once', async () => {
    const { client } = pipeline
    await client.agents.put('compacted', { settings: { rollingWindow: null, budget: 8_000 } })
    const thread = 'covered'
    await client.messages.append({ agent: 'compacted', thread, messages: turns(0, 400), ack: 'stored' })
    await client.threads.waitUntilSettled(thread)
    const cached = await client.contexts.build({ thread, fill: 'cache' })
    const filled = await client.contexts.build({ thread, fill: 'budget' })
    expect(filled.tokensUsed).toBeGreaterThan(8_000 * 0.85)
    expect(filled.tokensUsed).toBeGreaterThan(cached.tokensUsed)
    expect(filled.summaryUsed).toBe(true)
    expect(filled.receipt.stateId).toBe(cached.receipt.stateId)
    expect(filled.receipt.entries.reduce((sum, { count }) => sum + count, 0)).toBe(400)
    const raw = filled.receipt.entries.filter(({ mode, count }) => mode === 'raw' && count === 1)
    expect(new Set(raw.map(({ fromSeq }) => fromSeq)).size).toBe(raw.length)
    expect(raw.at(-1)?.fromSeq).toBe(400)
    expect((await client.contexts.get(filled.id, { rebuild: true })).messages).toEqual(filled.messages)
  })
})
