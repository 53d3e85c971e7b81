import { countTokens, renderedParts } from '@heddle/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'
import { AGENT, openTenant, session, THREAD } from '../tenant.js'

let pipeline: Pipeline

beforeAll(async () => {
  pipeline = await openPipeline()
  await pipeline.start()
})
afterAll(() => pipeline?.close())

test('a receipt says how much of the context it shares with the previous context as a prefix', async () => {
  const { client } = await openTenant(pipeline, 'prefix')
  await client.agents.put(AGENT, { systemPrompt: 'You weave.', settings: { budget: 100_000, rollingWindow: null } })
  const messages = session('prefix', 20).map(({ message }) => message)
  const append = (count: number) =>
    client.messages.append({ agent: AGENT, thread: THREAD, messages: messages.splice(0, count) })
  const build = () => client.contexts.build({ thread: THREAD, format: 'openai-chat' })
  await append(messages.findIndex(({ role }) => role === 'assistant') + 2)

  const first = await build()
  expect(first.receipt.sharedPrefixTokens).toBeUndefined()
  await append(10)
  const second = await build()
  expect(second.messages.slice(0, first.messages.length)).toEqual(first.messages)
  expect(second.messages.length).toBeGreaterThan(first.messages.length)
  const tokens = renderedParts(first, countTokens).reduce((sum, part) => sum + part.tokens, 0)
  expect(second.receipt.sharedPrefixTokens).toBe(tokens)
  expect((await client.contexts.get(second.id, { rebuild: true })).receipt).toEqual(second.receipt)

  await client.agents.put(AGENT, { systemPrompt: 'You spin.' })
  expect((await build()).receipt.sharedPrefixTokens).toBe(0)
})
