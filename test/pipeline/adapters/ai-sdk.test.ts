import { heddleMiddleware, heddlePrepareStep, heddleTools } from '@heddle/ai-sdk'
import * as ai5 from 'ai'
import type * as ai6 from 'ai-6'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type Served, servePipeline } from '../doors/http-support.js'
import type { Pipeline } from '../support.js'
import { versions } from './ai-sdk-versions.js'
import { startRelay } from './relay.js'
import { orphansIn, scriptedModel } from './scripted-model.js'

let pipeline: Pipeline
let http: Served
servePipeline((opened) => {
  ;({ pipeline, http } = opened)
})

const entriesOf = async (thread: string) => {
  const { items } = await pipeline.client.messages.list({ thread, limit: 500, order: 'asc' })
  return items
}

test('the middleware has the type that wrapLanguageModel of each version expects', () => {
  const middleware = heddleMiddleware({ agent: 'types', thread: 'types', url: http.url })
  const fifth: ai5.LanguageModelMiddleware = middleware
  const sixth: ai6.LanguageModelMiddleware = middleware
  expect(fifth).toBe(sixth)
})

test.each(versions)(
  'with $title prompts and replies are stored once, with usage, however often a prompt is sent',
  async (sdk) => {
    const thread = `ai-sdk-${sdk.version}`
    const { model, prompts } = scriptedModel(sdk.version, (_, count) => ({ text: `Reply ${count}` }))
    const options = { agent: 'ai-sdk', thread, url: http.url, budget: 4_000 }
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
  'with $title the agent goes on without Heddle, says so once, and what was said is made up for',
  async (sdk) => {
    const thread = `away-${sdk.version}`
    const { model } = scriptedModel(sdk.version, (_, count) => ({ text: `Reply ${count}` }))
    const aways: unknown[] = []
    let nowMs = 0
    const relay = await startRelay(() => http.url)
    const options = {
      agent: 'away',
      thread,
      url: relay.url,
      now: () => nowMs,
      onAway: (error: unknown) => void aways.push(error),
    }
    const wrapped = sdk.wrapLanguageModel({ model, middleware: heddleMiddleware(options) as never })
    const said: ai5.ModelMessage[] = []
    const turn = async (content: string) => {
      said.push({ role: 'user', content })
      const startedMs = performance.now()
      const { response } = await sdk.generateText({ model: wrapped, messages: said })
      said.push(...response.messages)
      return performance.now() - startedMs
    }
    await turn('One')
    await relay.stop()
    await turn('Two')
    nowMs += 6_000
    await turn('Three')
    expect(aways).toHaveLength(1)
    await relay.start()
    nowMs += 6_000
    await turn('Four')
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
    await relay.stop()
  },
)

test('prepareStep gives each step a context within the budget, and the tools recall and search', async () => {
  const thread = 'prepared'
  const long = 'The answer to the question is 42. '.repeat(400)
  const { model, prompts } = scriptedModel('v2', (_, count) =>
    count < 5 ? { call: { name: 'look', input: {} } } : { text: 'Done.' },
  )
  const look = { description: 'Looks.', inputSchema: z.object({}), execute: async () => `${prompts.length} ${long}` }
  const options = { agent: 'prepared', thread, url: http.url, budget: 8_000 }
  await ai5.generateText({
    model,
    prompt: 'Look five times.',
    tools: { look },
    stopWhen: ai5.stepCountIs(6),
    prepareStep: heddlePrepareStep(options),
  })
  expect(prompts.flatMap(orphansIn)).toEqual([])
  const entries = await entriesOf(thread)
  expect(entries.filter(({ role }) => role === 'tool_result')).toHaveLength(4)
  const [, , result] = entries
  const { recall, search } = heddleTools(options)
  expect(await recall.execute({ ref: result?.reference ?? '', lines: '1' })).toMatchObject({ linesTotal: 1 })
  await pipeline.client.threads.waitUntilSettled(thread)
  expect(await search.execute({ query: 'answer question' })).not.toEqual([])
  expect(await recall.execute({ ref: 'msg-00000000' })).toMatchObject({ error: expect.stringContaining('not found') })
})
