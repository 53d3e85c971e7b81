import { heddleMiddleware, heddlePrepareStep, heddleTools } from '@heddle/ai-sdk'
import { countTokens } from '@heddle/core'
import type * as ai5 from 'ai'
import type * as ai6 from 'ai-6'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { serveAdapter, startOutages, takeTurnsInOutage } from './adapter-support.js'
import { versions } from './ai-sdk-versions.js'
import { orphansIn, scriptedModel } from './scripted-model.js'

const heddle = serveAdapter()
const { entriesOf } = heddle

test('the middleware has the type that wrapLanguageModel of each version expects', () => {
  const middleware = heddleMiddleware({ agent: 'types', thread: 'types', url: heddle.url })
  const fifth: ai5.LanguageModelMiddleware = middleware
  const sixth: ai6.LanguageModelMiddleware = middleware
  expect(fifth).toBe(sixth)
})

test.each(versions)(
  'with $title prompts and replies are stored once, with usage, however often a prompt is sent',
  async (sdk) => {
    const thread = `ai-sdk-${sdk.version}`
    const { model, prompts } = scriptedModel(sdk.version, (_, count) => ({ text: `Reply ${count}` }))
    const options = { agent: 'ai-sdk', thread, url: heddle.url, budget: 4_000 }
    const wrapped = sdk.wrapLanguageModel({ model, middleware: heddleMiddleware(options) as never })
    const said: ai5.ModelMessage[] = [{ role: 'user', content: 'First' }]
    const first = await sdk.generateText({ model: wrapped, system: 'Be kind.', messages: said })
    said.push(...first.response.messages, { role: 'user', content: 'First' })
    const streamed = sdk.streamText({ model: wrapped, system: 'Be kind.', messages: said })
    await streamed.consumeStream()
    said.push(...(await streamed.response).messages, { role: 'user', content: 'Third' })
    // Another process goes on, and then only with what is new.
    const again = sdk.wrapLanguageModel({ model, middleware: heddleMiddleware(options) as never })
    await sdk.generateText({ model: again, messages: said })
    await sdk.generateText({ model: again, messages: [{ role: 'user', content: 'Fourth' }] })

    const entries = await entriesOf(thread)
    expect(entries.map(({ content }) => content)).toEqual([
      'First',
      'Reply 1',
      'First',
      'Reply 2',
      'Third',
      'Reply 3',
      'Fourth',
      'Reply 4',
    ])
    expect(entries[1]).toMatchObject({
      model: 'scripted-1',
      usage: { inputTokens: 60, cacheReadTokens: 40, outputTokens: 10 },
      contextId: expect.any(String),
    })
    expect(prompts[0]?.[0]).toEqual({ role: 'system', content: 'Be kind.' })
    expect(prompts.at(-1)?.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ])
  },
)

test.each(versions)(
  'with $title the agent goes on without Heddle within 100 ms a call, says so once, and what was said is made up for',
  async (sdk) => {
    const thread = `away-${sdk.version}`
    const { model } = scriptedModel(sdk.version, (_, count) => ({ text: `Reply ${count}` }))
    const outages = await startOutages(() => heddle.url)
    const options = { agent: 'away', thread, ...outages.options }
    const wrapped = sdk.wrapLanguageModel({ model, middleware: heddleMiddleware(options) as never })
    const said: ai5.ModelMessage[] = []
    const turn = async (content: string) => {
      said.push({ role: 'user', content })
      const { response } = await sdk.generateText({ model: wrapped, messages: said })
      said.push(...response.messages)
    }
    await takeTurnsInOutage(outages, turn)
    expect((await entriesOf(thread)).map(({ content }) => content)).toEqual([
      'One',
      'Reply 1',
      'Two',
      'Reply 2',
      'Three',
      'Reply 3',
      'Four',
      'Reply 4',
    ])
  },
)

test.each(versions)('with $title a refused key is reported as such, once, and the agent goes on', async (sdk) => {
  const { model, prompts } = scriptedModel(sdk.version, (_, count) => ({ text: `Reply ${count}` }))
  const { options, aways, pass } = await startOutages(() => heddle.url)
  const given = { agent: 'refused', thread: 'refused', key: 'hdl_unknown', ...options }
  const wrapped = sdk.wrapLanguageModel({ model, middleware: heddleMiddleware(given) as never })
  for (const prompt of ['One', 'Two']) {
    await sdk.generateText({ model: wrapped, prompt })
    pass()
  }
  expect(prompts).toHaveLength(2)
  expect(aways).toMatchObject([{ code: 'UNAUTHORIZED', field: 'authorization' }])
})

/** Steps that call a tool with long results, and a last one with a text. */
const looking = (version: 'v2' | 'v3' | 'v4') =>
  scriptedModel(version, (_, count) => (count < 5 ? { call: { name: 'look', input: {} } } : { text: 'Done.' }))

test.each(versions)('with $title prepareStep gives each step a context within the budget', async (sdk) => {
  const thread = `prepared-${sdk.version}`
  const long = 'The answer to the question is 42. '.repeat(400)
  const { model, prompts } = looking(sdk.version)
  const look = { description: 'Looks.', inputSchema: z.object({}), execute: async () => `${prompts.length} ${long}` }
  const options = { agent: 'prepared', thread, url: heddle.url, budget: 8_000 }
  await sdk.generateText({
    model,
    prompt: 'Look five times.',
    tools: { look },
    stopWhen: sdk.stepCountIs(6) as never,
    prepareStep: heddlePrepareStep(options),
  })
  expect(prompts.flatMap(orphansIn)).toEqual([])
  // Written as JSON a message has more tokens than a provider counts.
  expect(Math.max(...prompts.map((prompt) => countTokens(JSON.stringify(prompt))))).toBeLessThan(12_000)
  expect((await entriesOf(thread)).map(({ role }) => role)).toEqual([
    'user',
    ...Array.from({ length: 4 }, () => ['assistant', 'tool_result']).flat(),
  ])
})

test.each(versions)(
  'with $title prepareStep goes on while Heddle is away, and stores each message once',
  async (sdk) => {
    const thread = `prepared-away-${sdk.version}`
    const { model, prompts } = looking(sdk.version)
    const outages = await startOutages(() => heddle.url)
    const execute = async () => {
      outages.pass()
      if (prompts.length === 2) outages.stop()
      if (prompts.length === 3) outages.start()
      return `Line ${prompts.length}`
    }
    await sdk.generateText({
      model,
      prompt: 'Look five times.',
      tools: { look: { description: 'Looks.', inputSchema: z.object({}), execute } },
      stopWhen: sdk.stepCountIs(6) as never,
      prepareStep: heddlePrepareStep({ agent: 'prepared', thread, ...outages.options }),
    })
    expect(outages.aways).toHaveLength(1)
    expect(prompts.map(({ length }) => length)).toEqual([1, 3, 5, 7, 9])
    const results = (await entriesOf(thread)).filter(({ role }) => role === 'tool_result')
    expect(results.map(({ content }) => content)).toEqual(['Line 1', 'Line 2', 'Line 3', 'Line 4'])
  },
)

test('the tools recall and search, and a fault is their result', async () => {
  const options = { agent: 'ai-sdk-tools', thread: 'ai-sdk-tools', url: heddle.url }
  const messages = [{ role: 'user' as const, content: 'The tide changes at six.' }]
  await heddle.client.messages.append({ agent: options.agent, thread: options.thread, messages })
  await heddle.client.threads.waitUntilSettled(options.thread)
  const [entry] = await entriesOf(options.thread)
  const { recall, search } = heddleTools(options)
  expect(await recall.execute({ ref: entry?.reference ?? '', lines: '1' })).toMatchObject({ linesTotal: 1 })
  expect(await search.execute({ query: 'tide' })).toMatchObject([{ ref: expect.any(String) }])
  expect(await recall.execute({ ref: 'msg-00000000' })).toMatchObject({ error: expect.stringContaining('not found') })
})
